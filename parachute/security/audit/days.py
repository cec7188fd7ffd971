"""The files of the audit log: one a day, appended to and read backwards."""

import os
import re
import stat
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

from parachute.base.errors import InvalidInput
from parachute.base.files import private_folder
from parachute.base.folders import Folder

_NAME = re.compile(r"(\d{4}-\d{2}-\d{2})\.jsonl")
_BLOCK = 512 * 1024
_MOST = 10_000

LONGEST_LINE = 1024 * 1024
"""Bytes; records are far shorter, and whatever is longer was not written by this computer."""


class Days:
    """The files `YYYY-MM-DD.jsonl` of a folder. Every method waits for the disk."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def names(self) -> list[str]:
        """The days of which there is a file, oldest first."""
        try:
            with Folder.open(self._folder) as folder:
                found = (_NAME.fullmatch(entry.name) for entry in folder.entries())
                return sorted(match[1] for match, _ in zip(found, range(_MOST), strict=False) if match)
        except FileNotFoundError:
            return []

    def file(self, day: str) -> BinaryIO:
        """The file of a day, for reading; errors: OSError, InvalidInput for what is no file."""
        with Folder.open(self._folder) as folder:
            return folder.file(f"{day}.jsonl")

    def size(self, day: str) -> int:
        """The size of a day's file in bytes; 0 where there is none."""
        try:
            with Folder.open(self._folder) as folder:
                status = folder.status(f"{day}.jsonl")
        except FileNotFoundError:
            return 0
        return status.st_size if status else 0

    def remove(self, day: str) -> None:
        """Remove the file of a day."""
        with Folder.open(self._folder) as folder:
            folder.remove(f"{day}.jsonl")

    def replace(self, day: str, data: bytes) -> None:
        """Put other records in the place of those of a day; a reader sees either. Error: OSError."""
        with Folder.open(self._folder) as folder:
            folder.write(f"{day}.jsonl", data)

    def append(self, day: str, data: bytes) -> None:
        """Append whole lines in one write; what an earlier one left unfinished is cut off first, and all of it on an error.

        Errors: OSError, InvalidInput for what is no file.
        """
        flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_NONBLOCK
        with Folder.open(private_folder(self._folder)) as folder:
            descriptor = folder.descriptor(f"{day}.jsonl", flags)
        with os.fdopen(descriptor, "r+b", buffering=0) as file:
            status = os.fstat(descriptor)
            if not stat.S_ISREG(status.st_mode):
                raise InvalidInput(f"{self._folder / day}.jsonl is not a file.", key="not_a_file")
            whole = _whole(file, status.st_size)
            if whole < status.st_size:
                os.ftruncate(descriptor, whole)
            try:
                if file.write(data) != len(data):
                    raise OSError("only a part of it was written")
            except OSError:
                os.ftruncate(descriptor, whole)
                raise

    def sync(self, day: str) -> None:
        """Wait until the records of a day are on the disk."""
        with suppress(FileNotFoundError), self.file(day) as file:
            os.fsync(file.fileno())

    def last_line(self, day: str) -> bytes | None:
        """The last whole line of a day; None where there is none. Errors: OSError, InvalidInput."""
        with self.file(day) as file:
            for start, block in blocks(file, _whole(file, os.fstat(file.fileno()).st_size)):
                return next(lines_backwards(start, block))[1]
        return None


def blocks(file: BinaryIO, end: int, size: int = _BLOCK) -> Iterator[tuple[int, bytes]]:
    """Runs of whole lines before the offset `end`, which ends a line: last one first, each with the offset at which it begins.

    It ends at a line that is longer than any of this computer's.
    """
    wanted = size
    while end > 0:
        start = max(0, end - wanted)
        file.seek(start)
        block = file.read(end - start)
        if start:  # the rest of a line that begins before
            cut = block.find(b"\n") + 1
            start, block = start + cut, block[cut:]
        if block:
            yield start, block
            end, wanted = start, size
        elif wanted > LONGEST_LINE:
            return
        else:
            wanted *= 2


def lines_backwards(start: int, block: bytes) -> Iterator[tuple[int, bytes]]:
    """The lines of a block, last one first, each with its offset in the file."""
    place = start + len(block)
    for line in reversed(block.removesuffix(b"\n").split(b"\n")):
        place -= len(line) + 1
        yield place, line


def lines_with(start: int, block: bytes, needles: Sequence[bytes]) -> Iterator[tuple[int, bytes]]:
    """Find the lines of a block that have all of the needles in them, in the same order."""
    if not needles:
        yield from lines_backwards(start, block)
        return
    found, end = list[tuple[int, bytes]](), 0
    while (place := block.find(needles[0], end)) >= 0:
        begin = block.rfind(b"\n", 0, place) + 1
        end = block.index(b"\n", place) + 1
        line = block[begin : end - 1]
        if all(needle in line for needle in needles[1:]):
            found.append((start + begin, line))
    yield from reversed(found)


def _whole(file: BinaryIO, size: int) -> int:
    """The size up to the last end of a line."""
    end = size
    while end:
        start = max(0, end - _BLOCK)
        file.seek(start)
        found = file.read(end - start).rfind(b"\n")
        if found >= 0:
            return start + found + 1
        end = start
    return 0
