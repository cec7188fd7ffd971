"""Files that several programs share."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from parachute.base.errors import InvalidInput
from parachute.base.files import atomic_write, private_folder, read_regular
from tests.support.waiting import SECONDS

pytestmark = pytest.mark.process


def test_a_write_replaces_and_is_private(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("old")
    path.chmod(0o644)
    atomic_write(path, "ü")
    assert path.read_bytes() == "ü".encode()
    assert path.stat().st_mode & 0o777 == 0o600
    assert list(tmp_path.iterdir()) == [path]


def test_a_write_that_fails_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "folder"
    path.mkdir()
    (path / "inside").touch()
    with pytest.raises(OSError):
        atomic_write(path, "x")
    assert [entry.name for entry in tmp_path.iterdir()] == ["folder"]


def test_a_link_is_replaced_and_not_followed(tmp_path: Path) -> None:
    (tmp_path / "target").write_text("old")
    (tmp_path / "link").symlink_to("target")
    atomic_write(tmp_path / "link", "new")
    assert (tmp_path / "target").read_text() == "old"
    assert (tmp_path / "link").read_text() == "new"


@pytest.mark.parametrize("kind", ["pipe", "folder", "link", "large"])
def test_only_regular_files_within_the_limit_are_read(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "it"
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    elif kind == "link":
        (tmp_path / "target").write_text("x")
        path.symlink_to("target")
    else:
        path.write_bytes(b"x" * 11)
    with pytest.raises((InvalidInput, OSError)):
        read_regular(path, 10)


def test_a_file_of_just_the_limit(tmp_path: Path) -> None:
    (tmp_path / "it").write_bytes(b"x" * 10)
    assert read_regular(tmp_path / "it", 10) == b"x" * 10


def test_a_private_folder_is_closed_to_others(tmp_path: Path) -> None:
    (tmp_path / "open").mkdir(mode=0o755)
    assert private_folder(tmp_path / "open").stat().st_mode & 0o777 == 0o700
    assert private_folder(tmp_path / "new" / "inner").stat().st_mode & 0o777 == 0o700


_COUNTING = """
import sys
from pathlib import Path
from parachute.base.files import atomic_write, locked
path = Path(sys.argv[1])
for _ in range(100):
    with locked(path):
        atomic_write(path, str(int(path.read_text()) + 1))
"""


def test_a_lock_holds_between_processes(tmp_path: Path) -> None:
    path = tmp_path / "number"
    path.write_text("0")
    counting = [subprocess.Popen([sys.executable, "-c", _COUNTING, str(path)]) for _ in range(2)]
    assert [process.wait(SECONDS) for process in counting] == [0, 0]
    assert path.read_text() == "200"
