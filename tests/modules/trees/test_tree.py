"""Folders that somebody else fills: how they are looked at, and how they are removed."""

import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from parachute.base.files import remove_tree
from parachute.base.signatures import JUST_NOW_NS
from parachute.modules.trees import tree
from parachute.modules.trees.tree import is_unchanged, signatures
from tests.modules.registry.building import deep_folder
from tests.support.auditing import audited
from tests.support.errors import raises
from tests.support.waiting import wait_until

pytestmark = pytest.mark.process

_AS_SOMEBODY = """\
import os, sys
from pathlib import Path
from parachute.base.files import remove_tree

if os.geteuid() == 0:
    os.setuid(65534)  # root may everything everywhere
folder = Path(sys.argv[1])
(folder / "tree/empty").mkdir(parents=True)
(folder / "tree/closed").mkdir()
(folder / "tree/closed/file").write_text("")
(folder / "tree/read only").mkdir()
(folder / "tree/read only/file").write_text("")
(folder / "tree/closed").chmod(0)
(folder / "tree/read only/file").chmod(0)
(folder / "tree/read only").chmod(0o500)
(folder / "tree").chmod(0o500)
remove_tree(folder / "tree")
print(sorted(path.name for path in folder.iterdir()))
"""


def test_what_its_owner_has_locked_is_removed() -> None:
    # The folders above pytest's own are closed to the user whom the program becomes.
    with tempfile.TemporaryDirectory(prefix="ptree-", dir="/tmp") as folder:
        Path(folder).chmod(0o777)
        command = [sys.executable, "-c", _AS_SOMEBODY, folder]
        ended = subprocess.run(command, capture_output=True, text=True, timeout=60)
        assert (ended.stdout, ended.stderr) == ("[]\n", "")


def test_a_tree_that_is_deeper_than_a_path_is_long_is_removed(tmp_path: Path) -> None:
    with deep_folder(tmp_path / "deep", 2_100) as deep:
        (deep / "beside").write_text("")
        remove_tree(deep)
        assert list(tmp_path.iterdir()) == []


def test_links_are_removed_and_what_they_lead_to_is_not(tmp_path: Path) -> None:
    (tmp_path / "kept").mkdir()
    (tmp_path / "kept/file").write_text("")
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder/link").symlink_to(tmp_path / "kept")
    (tmp_path / "link").symlink_to(tmp_path / "kept")
    (tmp_path / "file").write_text("")
    for name in ("folder", "link", "file", "never there", "never there/below"):
        remove_tree(tmp_path / name)
    assert [path.name for path in tmp_path.iterdir()] == ["kept"]
    assert (tmp_path / "kept/file").exists()


def test_a_folder_that_becomes_a_link_meanwhile_leads_nowhere(tmp_path: Path) -> None:
    (tmp_path / "kept").mkdir()
    (tmp_path / "kept/file").write_text("")
    (tmp_path / "folder/below").mkdir(parents=True)
    (tmp_path / "folder/below/file").write_text("")
    swapped = False

    def swap(event: str, arguments: tuple[object, ...]) -> None:
        nonlocal swapped
        if not swapped and event == "open" and arguments[0] == "below":
            swapped = True
            (tmp_path / "folder/below").rename(tmp_path / "away")
            (tmp_path / "folder/below").symlink_to(tmp_path / "kept")

    with audited(swap), pytest.raises(OSError, match="below"):
        remove_tree(tmp_path / "folder")
    assert swapped
    assert (tmp_path / "kept/file").exists()


def test_no_more_is_looked_at_than_a_module_can_have(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tree, "_MOST_ENTRIES", 100)
    for number in range(10):
        (tmp_path / f"{number}").mkdir()
        for inner in range(9):
            (tmp_path / f"{number}/{inner}").write_text("")
    assert len(signatures(tmp_path)) == 1 + 10 + 90
    (tmp_path / "one more").write_text("")
    with raises("too_many_files", names="100 files"):
        signatures(tmp_path)


def _replace_by_link(root: Path) -> None:
    (root / "folder").rename(root.parent / "away")
    (root / "folder").symlink_to(root.parent / "away")


@pytest.mark.parametrize(
    "change",
    [
        lambda root: (root / "folder/file").write_text("two"),
        lambda root: (root / "folder/file").chmod(0o755),
        lambda root: (root / "folder/file").unlink(),
        lambda root: (root / "folder/new").write_text(""),
        lambda root: (root / "folder/file").rename(root / "folder/other"),
        lambda root: (root / "new").mkdir(),
        lambda root: (root / "empty").rmdir(),
        lambda root: root.rename(root.parent / "gone"),
        _replace_by_link,
    ],
)
def test_every_change_of_a_tree_is_noticed_without_listing_it(tmp_path: Path, change: Callable[[Path], object]) -> None:
    root = tmp_path / "root"
    (root / "folder").mkdir(parents=True)
    (root / "empty").mkdir()
    (root / "folder/file").write_text("one")
    made = time.time_ns()
    wait_until(lambda: time.time_ns() - made > 2 * JUST_NOW_NS, "a change would have another time")
    known = signatures(root)
    opened: list[object] = []
    with audited(lambda event, arguments: opened.append(arguments) if event in ("open", "os.scandir") else None):
        assert is_unchanged(root, known)
    assert opened == []
    change(root)
    assert not is_unchanged(root, known)
