"""The hash of a module sees everything, and a copy is what was hashed."""

import os
import re
import stat
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from parachute.modules.trees.hashing import HashDiffers, copy_verified, read_tree, tree_hash, verify
from parachute.modules.trees.tree import TreeNotAllowed
from tests.support.errors import raises
from tests.support.own_thread import here


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    tree = tmp_path / "tree"
    files = {
        "manifest.yaml": "name: x",
        "module.py": "a = 1\n",
        "prompts/agent.md": "Be nice.",
        "native/fast.so": "\x7fELF",
        "tests/test_x.py": "",
        "data/big.bin": "x" * (3 << 20),
    }
    for name, text in files.items():
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        (tree / name).write_text(text)
    (tree / "link").symlink_to("prompts/agent.md")
    return tree


def _change_module(tree: Path) -> None:
    (tree / "module.py").write_text("a = 2\n")


def _change_prompt(tree: Path) -> None:
    (tree / "prompts/agent.md").write_text("Be evil.")


def _change_library(tree: Path) -> None:
    (tree / "native/fast.so").write_text("\x7fELG")


def _change_end(tree: Path) -> None:
    with (tree / "data/big.bin").open("r+b") as file:
        file.seek(-1, os.SEEK_END)
        file.write(b"y")


def _rename(tree: Path) -> None:
    (tree / "module.py").rename(tree / "other.py")


def _swap(tree: Path) -> None:
    first, second = tree / "module.py", tree / "manifest.yaml"
    texts = first.read_text(), second.read_text()
    first.write_text(texts[1])
    second.write_text(texts[0])


def _move(tree: Path) -> None:
    (tree / "prompts/agent.md").rename(tree / "agent.md")


def _executable(tree: Path) -> None:
    (tree / "module.py").chmod(0o755)


def _add_empty(tree: Path) -> None:
    (tree / "__init__.py").touch()


def _add_hidden(tree: Path) -> None:
    (tree / ".pth").write_text("import os")


def _add_compiled(tree: Path) -> None:
    (tree / "module.pyc").write_bytes(b"x")


def _remove(tree: Path) -> None:
    (tree / "tests/test_x.py").unlink()


def _relink(tree: Path) -> None:
    (tree / "link").unlink()
    (tree / "link").symlink_to("module.py")


def _link_to_copy(tree: Path) -> None:
    text = (tree / "prompts/agent.md").read_text()
    (tree / "link").unlink()
    (tree / "link").write_text(text)


def _text_of_link(tree: Path) -> None:
    (tree / "link").unlink()
    (tree / "link").write_text("prompts/agent.md")


@pytest.mark.parametrize(
    "change",
    [
        *(_change_module, _change_prompt, _change_library, _change_end, _rename, _swap, _move, _executable, _add_empty),
        *(_add_hidden, _add_compiled, _remove, _relink, _link_to_copy, _text_of_link),
    ],
    ids=lambda change: change.__name__,
)
def test_every_change_changes_the_hash(tree: Path, change: Callable[[Path], None]) -> None:
    before = tree_hash(tree)
    assert re.fullmatch(r"sha256:[0-9a-f]{64}", before)
    change(tree)
    assert tree_hash(tree) != before


def test_what_does_not_belong_to_a_module_does_not_change_it(tree: Path, tmp_path: Path) -> None:
    before = tree_hash(tree)
    for name in (".git/config", "__pycache__/module.pyc", "prompts/__pycache__/x"):
        (tree / name).parent.mkdir(parents=True)
        (tree / name).write_text("x")
    (tree / "empty").mkdir()
    (tree / "module.py").chmod(0o600)
    os.utime(tree / "module.py", (0, 0))
    assert tree_hash(tree) == before
    assert copy_verified(tree, tmp_path / "copy") == before
    assert not list((tmp_path / "copy").rglob("__pycache__"))
    assert not (tmp_path / "copy/.git").exists()
    assert not (tmp_path / "copy/empty").exists()


def test_two_trees_whose_names_and_contents_run_together_differ(tmp_path: Path) -> None:
    hashes = set()
    for number, (name, text) in enumerate([("ab", "c"), ("a", "bc"), ("abc", ""), ("a\nb", "c"), ("a", "b\0c")]):
        folder = tmp_path / str(number)
        folder.mkdir()
        (folder / name).write_text(text)
        hashes.add(tree_hash(folder))
    assert len(hashes) == 5


def test_a_copy_is_read_only_and_can_be_verified(tree: Path, tmp_path: Path) -> None:
    (tree / "run.sh").write_text("#!/bin/sh")
    (tree / "run.sh").chmod(0o4755)
    copy = tmp_path / "copy"
    expected = copy_verified(tree, copy)
    assert expected == tree_hash(tree)
    assert verify(copy, expected).files == read_tree(tree).files
    assert (copy / "module.py").stat().st_mode & 0o7777 == 0o444
    assert (copy / "run.sh").stat().st_mode & 0o7777 == 0o555
    assert (copy / "link").readlink() == Path("prompts/agent.md")
    with pytest.raises(FileExistsError):
        copy_verified(tree, copy)


@pytest.mark.parametrize("name", ["__pycache__/module.pyc", ".git/config", "prompts/__pycache__/x.pyc", "new.py"])
def test_nothing_may_appear_in_a_verified_copy(tree: Path, tmp_path: Path, name: str) -> None:
    copy = tmp_path / "copy"
    expected = copy_verified(tree, copy)
    (copy / name).parent.mkdir(parents=True, exist_ok=True)
    (copy / name).write_text("x")
    with pytest.raises(HashDiffers):
        verify(copy, expected)


@pytest.mark.parametrize(
    ("name", "target"),
    [
        ("out", "/etc/passwd"),
        ("out", "../outside"),
        ("out", ".."),
        ("prompts/out", "../../outside"),
        ("out", "prompts/../../outside"),
        ("out", "prompts/../module.py"),
        ("deep/a/out", "../../.."),
    ],
)
def test_links_that_lead_out_are_refused(tree: Path, name: str, target: str) -> None:
    (tree / name).parent.mkdir(parents=True, exist_ok=True)
    (tree / name).symlink_to(target)
    with raises("path_leads_out"):
        tree_hash(tree)


def test_a_link_through_another_link_cannot_lead_out(tree: Path) -> None:
    (tree / "prompts/up").symlink_to("..")
    tree_hash(tree)
    (tree / "out").symlink_to("prompts/up/../outside")
    with raises("path_leads_out"):
        tree_hash(tree)


def test_what_is_neither_file_nor_folder_is_refused(tree: Path) -> None:
    os.mkfifo(tree / "pipe")
    with raises("not_a_file"):
        tree_hash(tree)
    (tree / "pipe").unlink()
    os.mknod(tree / "sock", stat.S_IFSOCK | 0o600)
    with raises("not_a_file"):
        tree_hash(tree)


def test_a_tree_that_is_too_deep_is_refused(tree: Path) -> None:
    deep = tree
    for _ in range(70):
        deep = deep / "d"
    deep.mkdir(parents=True)
    with raises("unreadable"):
        tree_hash(tree)


def test_a_file_that_changes_while_it_is_copied_is_hashed_as_it_was_copied(tree: Path, tmp_path: Path) -> None:
    stop = threading.Event()
    target = tree / "data/big.bin"

    def write() -> None:
        letters = 0
        while not stop.is_set():
            letters += 1
            with target.open("r+b") as file:
                for place in range(0, 3 << 20, 1 << 19):
                    file.seek(place)
                    file.write(bytes([65 + letters % 26]) * 1000)

    writer = threading.Thread(target=write)
    writer.start()
    try:
        for number in range(10):
            copy = tmp_path / f"copy{number}"
            assert copy_verified(tree, copy) == tree_hash(copy)
    finally:
        stop.set()
        writer.join()


def test_a_folder_that_becomes_a_link_while_it_is_read_leads_nowhere(
    tree: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "agent.md").write_text("secret")
    real = os.scandir
    swapped = False

    def scandir(path: int) -> object:
        nonlocal swapped
        entries = real(path)
        if not swapped:
            swapped = True
            (tree / "prompts").rename(tmp_path / "moved")
            (tree / "prompts").symlink_to(outside)
        return entries

    monkeypatch.setattr(os, "scandir", here(scandir, real))
    with pytest.raises(TreeNotAllowed):
        copy_verified(tree, tmp_path / "copy")
    assert not any(path.read_text() == "secret" for path in (tmp_path / "copy").rglob("*.md"))


def test_names_that_are_no_text(tmp_path: Path) -> None:
    folder = tmp_path / "tree"
    folder.mkdir()
    with open(os.fsencode(folder) + b"/\xff.py", "wb") as file:
        file.write(b"x")
    assert copy_verified(folder, tmp_path / "copy") == tree_hash(folder) == tree_hash(tmp_path / "copy")


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    with raises("unreadable"):
        tree_hash(tmp_path / "none")
