"""Folders: whatever lies in the way, nothing outside is reached; with openat2 and with the walk that stands in for it."""

import os
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from parachute.base.errors import InvalidInput
from parachute.base.folders import Folder

pytestmark = pytest.mark.usefixtures("way")


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside/secret").write_text("secret")
    return tmp_path / "outside"


@pytest.fixture
def root(tmp_path: Path, outside: Path) -> Iterator[Folder]:
    (tmp_path / "root/notes/old").mkdir(parents=True)
    (tmp_path / "root/notes/old/tea").write_text("tea")
    with Folder.open(tmp_path / "root") as folder:
        yield folder


def place(root: Folder) -> Path:
    return Path(f"/proc/self/fd/{root.fileno()}").readlink()


def test_files_are_read_and_replaced_as_a_whole(root: Folder) -> None:
    assert root.read("notes/old/tea", 3) == b"tea"
    root.write("notes/old/tea", "coffee")
    assert root.read(Path("notes/old/tea"), 100) == b"coffee"
    with root.folder("notes/old") as old:
        assert [entry.name for entry in old.entries()] == ["tea"]


def test_a_file_above_the_limit_is_refused(root: Folder) -> None:
    with pytest.raises(InvalidInput) as refused:
        root.read("notes/old/tea", 2)
    assert refused.value.key == "file_too_large"


def test_a_file_without_a_size_is_read_up_to_the_limit() -> None:
    with Folder.open(Path("/proc/self")) as process, pytest.raises(InvalidInput):
        process.read("status", 100)


def test_a_path_that_leads_out_is_refused(root: Folder) -> None:
    for path in ("../outside/secret", "notes/../../outside/secret", "/etc/passwd", "notes\0"):
        for attempt in (root.file, root.status, root.folder, lambda path: root.write(path, "")):
            with pytest.raises(InvalidInput) as refused:
                attempt(path)
            assert refused.value.key == "path_leads_out", path


@pytest.mark.parametrize("link", ["notes", "notes/old", "notes/old/secret"])
def test_a_link_in_any_part_is_not_followed(root: Folder, outside: Path, link: str) -> None:
    path = place(root) / link
    if path.is_dir():
        path.rename(place(root) / "away")
    path.symlink_to(outside / "secret" if link.endswith("secret") else outside)
    with pytest.raises(OSError):
        root.read("notes/old/secret", 100)
    if link != "notes/old/secret":
        with pytest.raises(OSError):
            root.write("notes/old/new", "x")
        with pytest.raises(OSError):
            root.folder("notes/old/made", make=True).close()
    with pytest.raises(OSError):
        root.descriptor("notes/old/secret", os.O_PATH)
    assert [entry.name for entry in outside.iterdir()] == ["secret"]


def test_writing_replaces_a_link_and_not_what_it_leads_to(root: Folder, outside: Path) -> None:
    (place(root) / "notes/link").symlink_to(outside / "secret")
    root.write("notes/link", "mine")
    assert (outside / "secret").read_text() == "secret"
    assert root.read("notes/link", 10) == b"mine"


def test_pipes_and_folders_are_no_files_and_nobody_waits_for_them(root: Folder) -> None:
    os.mkfifo(place(root) / "pipe")
    for path in ("pipe", "notes"):
        with pytest.raises(InvalidInput) as refused:
            root.read(path, 10)
        assert refused.value.key == "not_a_file"


def test_missing_folders_are_made_for_their_owner_only(root: Folder) -> None:
    with root.folder("a/b", make=True) as made:
        made.write("c", "1")
    assert root.read("a/b/c", 1) == b"1"
    found = root.status("a/b")
    assert found is not None
    assert found.st_mode & 0o777 == 0o700
    assert root.status("a/d") is None


def test_an_absolute_path_is_opened_only_without_links(tmp_path: Path, root: Folder, outside: Path) -> None:
    real = tmp_path.resolve()
    (real / "link").symlink_to(outside)
    with Folder.open_unlinked(real / "outside") as found:
        assert found.read("secret", 10) == b"secret"
    with pytest.raises(OSError):
        Folder.open_unlinked(real / "link")


def test_a_folder_that_is_swapped_for_a_link_meanwhile_leads_nowhere(root: Folder, outside: Path) -> None:
    notes, away, link = place(root) / "notes", place(root) / "away", place(root) / "link"
    link.symlink_to(outside)
    (notes / "secret").write_text("mine")
    done = threading.Event()

    def swap() -> None:
        while not done.is_set():
            notes.rename(away)
            link.rename(notes)
            notes.rename(link)
            away.rename(notes)

    swapping = threading.Thread(target=swap)
    swapping.start()
    try:
        read = set()
        for _ in range(1_000):
            try:
                read.add(root.read("notes/secret", 10))
            except OSError:
                pass
        assert read <= {b"mine"}
    finally:
        done.set()
        swapping.join()
