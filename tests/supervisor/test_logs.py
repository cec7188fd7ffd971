"""Logs stay short while others write to them, and say what they have lost."""

import asyncio
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from parachute.supervisor.logs import KEPT, LIMIT, keep_short, older, shorten
from tests.support.computer import Computer
from tests.support.waiting import wait_until

pytestmark = pytest.mark.process

# Numbered lines of ten bytes: first so many, then on until its standard input closes.
WRITER = """
import os, select, sys
number = 0
while number < int(sys.argv[1]) or not select.select([0], [], [], 0)[0]:
    os.write(1, b"".join(b"%09d\\n" % each for each in range(number, number + 100)))
    number += 100
    if number == int(sys.argv[1]):
        os.write(2, b".")
"""


def numbers(path: Path) -> list[int]:
    """The numbered lines of a log; what was kept while it was written may end in the middle of one."""
    return [int(line) for line in path.read_text().splitlines() if line.isdigit() and len(line) == 9]


def notes(path: Path) -> list[str]:
    """The lines of a log that it did not get from its unit."""
    return [line for line in path.read_text().splitlines() if not line.isdigit()]


def write(path: Path, first: int, count: int) -> None:
    """Append numbered lines as a unit does."""
    with path.open("ab") as file:
        file.write(b"".join(b"%09d\n" % number for number in range(first, first + count)))


@pytest.mark.long
def test_the_newest_is_kept_and_what_goes_is_counted(tmp_path: Path) -> None:
    log = tmp_path / "core.log"
    write(log, 0, 500_000)
    with log.open("ab", buffering=0) as writer:
        writer.write(b"begun ")
        shorten(log)
        writer.write(b"and ended\n")
    kept = numbers(older(log))
    assert kept == list(range(kept[0], 500_000))
    assert KEPT - 20 <= len(kept) * 10 <= KEPT
    assert notes(older(log)) == [
        f"-- {kept[0] * 10} bytes were dropped here: {kept[0] * 10} of this log, 0 before --",
        "begun ",
    ]
    assert log.read_text().endswith("may be missing --\nand ended\n")
    before = older(log).stat().st_size
    write(log, 500_000, 500_000)
    size = log.stat().st_size
    shorten(log)
    kept = numbers(older(log))
    assert kept == list(range(kept[0], 1_000_000))
    gone = size - len(kept) * 10
    assert notes(older(log)) == [f"-- {gone + before} bytes were dropped here: {gone} of this log, {before} before --"]


def test_a_writer_that_never_rests_goes_on_behind_what_was_kept(tmp_path: Path) -> None:
    log = tmp_path / "core.log"
    with (
        log.open("ab") as output,
        subprocess.Popen(
            [sys.executable, "-ISc", WRITER, "500000"], stdin=subprocess.PIPE, stdout=output, stderr=subprocess.PIPE
        ) as writer,
    ):
        assert writer.stderr is not None
        assert writer.stdin is not None
        assert writer.stderr.read(1) == b"."
        shorten(log)
        after = log.stat().st_size
        wait_until(lambda: log.stat().st_size > after + 1000, "it writes on")
        writer.stdin.close()
    kept, now = numbers(older(log)), numbers(log)
    assert kept == list(range(kept[0], kept[-1] + 1))
    assert now == list(range(now[0], now[-1] + 1)), "no hole, and no line in halves"
    (note,) = notes(log)
    counted = re.search(r"at least (\d+) bytes", note)
    lost = (now[0] - kept[-1] - 1) * 10
    assert lost >= (int(counted[1]) if counted else 0)
    assert older(log).stat().st_size < 3 * KEPT


def test_what_cannot_be_kept_is_dropped_and_told(tmp_path: Path) -> None:
    log = tmp_path / "core.log"
    write(log, 0, 500_000)
    (older(log) / "in the way").mkdir(parents=True)
    shorten(log)
    (note,) = log.read_text().splitlines()
    assert "5000000 bytes were dropped here, since they could not be kept: Is a directory" in note
    assert sorted(path.name for path in tmp_path.iterdir()) == ["core.log", "core.log.1"]


async def test_only_logs_that_have_grown_are_shortened(tmp_path: Path) -> None:
    folder, other = tmp_path / "logs", tmp_path / "other"
    folder.mkdir()
    other.write_bytes(bytes(LIMIT + 1))
    (folder / "a-link.log").symlink_to(other)
    os.mkfifo(folder / "a-pipe.log")
    (folder / "short.log").write_bytes(bytes(LIMIT))
    write(folder / "z-long.log", 0, LIMIT // 10 + 1)
    keeping = asyncio.create_task(keep_short(folder))
    try:
        async with asyncio.timeout(60):
            while not older(folder / "z-long.log").exists():
                await asyncio.sleep(0.01)
    finally:
        keeping.cancel()
    assert other.stat().st_size == LIMIT + 1
    assert (folder / "short.log").stat().st_size == LIMIT
    assert sorted(path.name for path in folder.glob("*.1")) == ["z-long.log.1"]


@pytest.mark.computer
@pytest.mark.long
def test_the_supervisor_keeps_them_short() -> None:
    computer = Computer()
    write(computer.home.logs / "module-gone.log", 0, LIMIT // 10 + 1)
    with computer:
        computer.wait_until((computer.home.logs / "module-gone.log.1").exists, "the log is shortened")
        write(computer.home.logs / "module-gone.log", 0, LIMIT // 10 + 1)
        computer.wait_until(
            lambda: (computer.home.logs / "module-gone.log").stat().st_size < LIMIT, "and shortened again"
        )
