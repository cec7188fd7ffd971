"""Whole folders: what is in them, and the folder above a path."""

import os
from pathlib import Path

import pytest

from parachute.base.errors import InvalidInput
from parachute.base.files import kind_of, walk_tree, writable_parent
from parachute.base.globs import matcher


def test_each_folder_comes_before_what_is_in_it_and_no_link_is_followed(tmp_path: Path) -> None:
    root, outside = tmp_path / "root", tmp_path / "outside"
    (root / "b" / "c").mkdir(parents=True)
    outside.mkdir()
    for path in (root / "b" / "c" / "d", root / "a", outside / "secret", root / "left"):
        path.touch()
    (root / "link").symlink_to(outside)
    os.mkfifo(root / "pipe")
    found = {path: kind_of(status) for path, status in walk_tree(root, leave_out=lambda path: path == "left")}
    assert sorted(found) == [".", "a", "b", "b/c", "b/c/d", "link", "pipe"]
    order = list(found)
    assert order.index(".") < order.index("b") < order.index("b/c") < order.index("b/c/d")
    assert [found[path] for path in ("a", "b", "link", "pipe")] == ["file", "dir", "symlink", None]


def test_what_becomes_a_link_meanwhile_is_missed_and_not_entered(tmp_path: Path) -> None:
    root, outside = tmp_path / "root", tmp_path / "outside"
    (root / "folder").mkdir(parents=True)
    outside.mkdir()
    (outside / "secret").touch()
    missed: list[str] = []
    for path, _ in walk_tree(root, missed=lambda path, error: missed.append(path)):
        assert path != "folder/secret"
        if path == "folder":
            (root / "folder").rmdir()
            (root / "folder").symlink_to(outside)
    assert missed == ["folder"]


def test_the_folder_above_is_made_is_writable_for_the_block_and_never_behind_a_link(tmp_path: Path) -> None:
    root, outside = tmp_path / "root", tmp_path / "outside"
    (root / "closed").mkdir(parents=True)
    (root / "closed").chmod(0o500)
    outside.mkdir()
    (root / "link").symlink_to(outside)
    with writable_parent(root, "new/folder/file"):
        assert (root / "new" / "folder").is_dir()
    with writable_parent(root, "closed/file") as (folder, name):
        os.close(os.open(name, os.O_CREAT | os.O_WRONLY, dir_fd=folder.fileno()))
    assert (root / "closed" / "file").exists()
    assert (root / "closed").stat().st_mode & 0o777 == 0o500
    with pytest.raises(OSError, match="link"), writable_parent(root, "link/file"):
        pass
    for path in ("../file", "/file", "new/..", ".", ""):
        with pytest.raises(InvalidInput), writable_parent(root, path):
            pass
    assert list(outside.iterdir()) == []


def test_patterns_match_whole_paths() -> None:
    for path, matches in (
        ("a.db", True),
        ("x/y/a.db", True),
        ("x/a.db-wal", False),
        ("run", True),
        ("run/a", False),
        ("x/run", False),
    ):
        assert matcher(["**/*.db", "run"])(path) is matches
