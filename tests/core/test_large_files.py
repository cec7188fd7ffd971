"""Files of the vault in pieces, and files that others change at the same time."""

import os
import threading
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parachute.base.errors import InvalidInput, NotAllowed, NotFound
from parachute.core.files import Files
from parachute.core.patterns import Pattern
from tests.support.errors import raises


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    (tmp_path / "Notes").mkdir()
    (tmp_path / "Other").mkdir()
    return tmp_path


@pytest.fixture
def files(vault: Path) -> Files:
    return Files(vault, write=["Notes/**"])


async def pieces(*data: bytes) -> AsyncIterator[bytes]:
    for piece in data:
        yield piece


async def test_a_file_is_replaced_only_as_long_as_it_is_what_was_expected(files: Files, vault: Path) -> None:
    assert await files.replace("Notes/a.md", "one", None)
    assert not await files.replace("Notes/a.md", "two", None)
    assert not await files.replace("Notes/a.md", "two", b"on")
    assert not await files.replace("Notes/a.md", "two", b"one more")
    assert not await files.replace("Notes/none.md", "two", b"")
    (vault / "Notes/a.md").chmod(0o640)
    assert await files.replace("Notes/a.md", "two", b"one")
    assert (vault / "Notes/a.md").read_text() == "two"
    assert (vault / "Notes/a.md").stat().st_mode & 0o777 == 0o640
    assert [path.name for path in (vault / "Notes").iterdir()] == ["a.md"]
    with pytest.raises(NotAllowed):
        await files.replace("Other/a.md", "x", None)


async def test_of_many_who_make_a_file_one_does(vault: Path) -> None:
    done: list[bool] = []
    start = threading.Barrier(8)

    def make(number: int) -> None:
        start.wait()
        done.append(Files(vault, write=["Notes/**"])._write_bytes(("Notes", "a.md"), bytes([number]) * 10, None))

    threads = [threading.Thread(target=make, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(done) == [False] * 7 + [True]
    assert len(set((vault / "Notes/a.md").read_bytes())) == 1


async def test_a_file_comes_and_goes_in_pieces(files: Files, vault: Path) -> None:
    assert await files.write_stream("Notes/new/a.bin", pieces(b"a" * 300_000, b"", b"b" * 300_000)) == 600_000
    assert b"".join([piece async for piece in files.read_stream("Notes/new/a.bin")]) == b"a" * 300_000 + b"b" * 300_000
    assert b"".join([piece async for piece in files.read_stream("Notes/new/a.bin", 299_999, 2)]) == b"ab"
    assert [piece async for piece in files.read_stream("Notes/new/a.bin", 600_000)] == []
    (vault / "Notes/link").symlink_to(vault / "Other")
    for path, error in (("Notes/none", NotFound), ("Other/x", NotAllowed), ("Notes/link", InvalidInput)):
        with pytest.raises(error):
            [piece async for piece in files.read_stream(path)]


async def test_a_stream_that_breaks_off_changes_nothing(files: Files, vault: Path) -> None:
    await files.write("Notes/a.bin", b"old")

    async def broken() -> AsyncIterator[bytes]:
        yield b"new"
        raise ConnectionError

    with pytest.raises(ConnectionError):
        await files.write_stream("Notes/a.bin", broken())
    with raises("file_too_large"):
        await files.write_stream("Notes/a.bin", pieces(b"123", b"456"), largest=5)
    assert (vault / "Notes/a.bin").read_bytes() == b"old"
    assert [path.name for path in (vault / "Notes").iterdir()] == ["a.bin"]


async def test_scan_and_stat_tell_what_changed(files: Files, vault: Path) -> None:
    for name in ("b.md", "a.md", ".hidden/c.md", "d.txt"):
        await files.write(f"Notes/{name}", name)
    (vault / "Notes/link.md").symlink_to(vault / "Notes/a.md")
    found = await files.scan("Notes/**")
    assert [(path, size) for path, _, size in found] == [
        ("Notes/.hidden/c.md", 12),
        ("Notes/a.md", 4),
        ("Notes/b.md", 4),
        ("Notes/d.txt", 5),
    ]
    path, modified, size = found[1]
    status = (vault / path).stat()
    assert (modified, size) == (status.st_mtime_ns, status.st_size)
    assert await files.stat(path) == (modified, size)
    assert await files.stat("Notes/link.md") is None
    assert await files.stat("Notes/none.md") is None
    with pytest.raises(NotAllowed):
        await files.stat("Other/a.md")


async def test_marks_tell_a_change_that_keeps_time_and_size(files: Files, vault: Path) -> None:
    await files.write("Notes/a.md", "old")
    await files.write("Notes/b.md", "same")
    path = vault / "Notes/a.md"
    before = await files.marks("Notes/*.md")
    assert [name for name, _ in before] == ["Notes/a.md", "Notes/b.md"]
    assert await files.marks("Notes/*.md") == before
    status = path.stat()
    await files.write("Notes/a.md", "new")
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    after = await files.marks("Notes/*.md")
    assert after[0] != before[0]
    assert after[1] == before[1]


_PARTS = st.sampled_from(["a", ".b", "ab", "c.md", ".d.md"])


@given(
    pattern=st.lists(st.one_of(_PARTS, st.sampled_from(["*", "**", "?", "*.md", "a*"])), min_size=1, max_size=4),
    folder=st.lists(_PARTS, max_size=3),
    name=_PARTS,
)
def test_names_of_a_folder_match_as_their_paths_do(pattern: list[str], folder: list[str], name: str) -> None:
    found = Pattern.parse("/".join(pattern))
    assert found.names(tuple(folder))(name) == found.matches((*folder, name))
