"""Contents in pieces: whatever breaks off, what was confirmed is there, and nothing but the whole is taken."""

import asyncio
import contextlib
import hashlib
import signal
import sys
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from parachute.base.errors import Conflict
from parachute.base.folders import Folder
from parachute.base.pieces import LARGEST_PIECE, Announced, Pieces
from tests.support.clock import ManualClock
from tests.support.errors import raises
from tests.support.small_disk import small_disk

CONTENT = bytes(range(256)) * 40
KEY = "ab" * 12


def announced(content: bytes = CONTENT, key: str = KEY) -> Announced:
    """Announce a content with its own hash."""
    return Announced.read(key, len(content), hashlib.sha256(content).hexdigest())


async def body(*chunks: bytes) -> AsyncIterator[bytes]:
    """A body in these chunks."""
    for chunk in chunks:
        yield chunk


async def cut_off(chunk: bytes) -> AsyncIterator[bytes]:
    """A body whose sender goes away."""
    yield chunk
    raise ConnectionError


@pytest.fixture
def pieces(tmp_path: Path) -> Pieces:
    return Pieces(lambda: Folder.open(tmp_path))


async def test_pieces_become_the_whole(pieces: Pieces, tmp_path: Path) -> None:
    which = announced()
    assert await pieces.offset(which) == 0
    assert await pieces.add(which, 0, body(CONTENT[:1000], CONTENT[1000:5000])) == 5000
    # As after a restart: nothing but the file is known.
    again = Pieces(lambda: Folder.open(tmp_path))
    assert await again.offset(which) == 5000
    assert await again.add(which, 5000, body(CONTENT[5000:])) == len(CONTENT)
    await again.check(which)
    assert (tmp_path / which.name).read_bytes() == CONTENT
    await again.drop(which)
    assert list(tmp_path.iterdir()) == []


async def test_what_breaks_off_changes_nothing(pieces: Pieces) -> None:
    which = announced()
    await pieces.add(which, 0, body(CONTENT[:10]))
    with pytest.raises(ConnectionError):
        await pieces.add(which, 10, cut_off(CONTENT[10:20]))
    assert await pieces.offset(which) == 10


@pytest.mark.parametrize("offset", [0, 9, 11])
async def test_another_offset_is_refused(pieces: Pieces, offset: int) -> None:
    which = announced()
    await pieces.add(which, 0, body(CONTENT[:10]))
    with raises("wrong_offset"):
        await pieces.add(which, offset, body(b"x" * 20))
    assert await pieces.offset(which) == 10


async def test_what_is_complete_can_be_finished_later(pieces: Pieces) -> None:
    which = announced()
    with raises("wrong_offset"):
        await pieces.add(which, len(CONTENT), body())
    await pieces.add(which, 0, body(CONTENT))
    assert await pieces.add(which, len(CONTENT), body()) == len(CONTENT)


async def test_nothing_begins_in_the_middle(pieces: Pieces, tmp_path: Path) -> None:
    with raises("wrong_offset"):
        await pieces.add(announced(), 10, body(b"x"))
    assert list(tmp_path.iterdir()) == []


async def test_another_hash_than_announced_is_dropped(pieces: Pieces) -> None:
    which = announced()
    await pieces.add(which, 0, body(CONTENT[:-1], b"?"))
    with raises("wrong_hash"):
        await pieces.check(which)
    assert await pieces.offset(which) == 0


async def test_two_senders_of_one_content_make_it_once(pieces: Pieces, tmp_path: Path) -> None:
    which = announced()

    async def send() -> None:
        while (there := await pieces.offset(which)) < len(CONTENT):
            with contextlib.suppress(Conflict):
                await pieces.add(which, there, body(CONTENT[there : there + 500]))

    await asyncio.gather(send(), send(), send())
    await pieces.check(which)
    assert (tmp_path / which.name).read_bytes() == CONTENT


async def test_two_contents_of_one_key_stay_apart(pieces: Pieces) -> None:
    one, other = announced(), announced(CONTENT[::-1])
    await pieces.add(one, 0, body(CONTENT[:10]))
    assert await pieces.offset(other) == 0
    await pieces.add(other, 0, body(CONTENT[::-1]))
    await pieces.check(other)
    assert await pieces.offset(one) == 10


@pytest.mark.parametrize(
    ("size", "offset", "chunk", "key"),
    [
        (100, 0, b"", "piece_outside"),
        (100, 0, b"x" * 101, "piece_outside"),
        (100, 50, b"x" * 51, "piece_outside"),
        (LARGEST_PIECE * 2, 0, b"x" * (LARGEST_PIECE + 1), "piece_too_large"),
    ],
)
async def test_pieces_have_bounds(
    pieces: Pieces, tmp_path: Path, size: int, offset: int, chunk: bytes, key: str
) -> None:
    with raises(key):
        await pieces.add(Announced.read(KEY, size, "0" * 64), offset, body(chunk))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("key", "size", "sha256", "problem"),
    [
        ("../" * 8, 5, "0" * 64, "invalid_key"),
        ("ab", 5, "0" * 64, "invalid_key"),
        (KEY, 0, "0" * 64, "file_empty"),
        (KEY, 1 << 40, "0" * 64, "file_too_large"),
        (KEY, 5, "0" * 63, "invalid_hash"),
        (KEY, 5, "0" * 64 + "\n", "invalid_hash"),
    ],
)
def test_announcements_have_bounds(key: str, size: int, sha256: str, problem: str) -> None:
    with raises(problem):
        Announced.read(key, size, sha256)


async def test_leftovers_go_and_their_number_has_a_bound(tmp_path: Path) -> None:
    clock = ManualClock(datetime.now(UTC))
    pieces = Pieces(lambda: Folder.open(tmp_path), clock)
    (tmp_path / "of somebody else").write_text("stays")
    for number in range(200):
        await pieces.add(announced(key=f"{number:024x}"), 0, body(b"x"))
    with raises("too_many_uploads"):
        await pieces.add(announced(), 0, body(b"x"))
    # What has begun goes on.
    await pieces.add(announced(key=f"{7:024x}"), 1, body(b"x"))
    clock.move(timedelta(days=15).total_seconds())
    await pieces.add(announced(), 0, body(b"x"))
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([announced().name, "of somebody else"])


@pytest.mark.process
async def test_a_full_disk_keeps_what_is_there(tmp_path: Path) -> None:
    folder = tmp_path / "disk"
    folder.mkdir()
    which, half = announced(), len(CONTENT) // 2
    with small_disk(folder, 120) as disk:
        pieces = Pieces(lambda: Folder.open(folder))
        await pieces.add(which, 0, body(CONTENT[:half]))
        disk.fill()
        with raises("disk_full"):
            await pieces.add(which, half, body(CONTENT[half:]))
        assert await pieces.offset(which) == half
        disk.make_room()
        await pieces.add(which, half, body(CONTENT[half:]))
        await pieces.check(which)


WRITER = """
import asyncio, hashlib, sys
from pathlib import Path
from parachute.base.errors import Conflict
from parachute.base.folders import Folder
from parachute.base.pieces import Announced, Pieces

async def main(folder, content):
    pieces = Pieces(lambda: Folder.open(folder))
    which = Announced.read("ab" * 12, len(content), hashlib.sha256(content).hexdigest())
    there = await pieces.offset(which)
    while there < len(content):
        async def body():
            yield content[there:there + 4096]
        there = await pieces.add(which, there, body())
        print(there, flush=True)
    await pieces.check(which)

asyncio.run(main(Path(sys.argv[1]), bytes(range(256)) * 4096))
"""


@pytest.mark.process
async def test_a_kill_loses_nothing_that_was_confirmed(tmp_path: Path) -> None:
    content = bytes(range(256)) * 4096
    which = announced(content)
    confirmed, kills = 0, 0
    while True:
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-c", WRITER, str(tmp_path), stdout=asyncio.subprocess.PIPE
        )
        assert process.stdout is not None
        for _ in range(40):
            if not (line := await process.stdout.readline()):
                break
            confirmed = int(line)
        if process.returncode is None and confirmed < len(content):
            process.send_signal(signal.SIGKILL)
            kills += 1
        rest = await process.stdout.read()
        ended = await process.wait()
        confirmed = max([confirmed, *map(int, rest.split())])
        assert await Pieces(lambda: Folder.open(tmp_path)).offset(which) >= confirmed
        assert (tmp_path / which.name).read_bytes() == content[: (tmp_path / which.name).stat().st_size]
        if ended == 0:
            break
    assert kills > 3
    assert (tmp_path / which.name).read_bytes() == content
