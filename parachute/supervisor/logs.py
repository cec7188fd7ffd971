"""The logs of units, and their limit."""

import asyncio
import contextlib
import logging
import os
import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from parachute.base.folders import Folder
from parachute.base.replacing import Replacement
from parachute.config.settings.home import Home

LIMIT, KEPT = 8 << 20, 4 << 20
_LOOK_SECONDS = 2.0
_CHUNK = 64 * 1024
_OLDER = ".1"
_ROUNDS = 8
_DROPPED = re.compile(rb"-- \d+ bytes were dropped here: (\d+) of this log, ")
_SHORTENED = re.compile(rb"-- [\d: -]+ shortened; ")

log = logging.getLogger(__name__)


def log_path(home: Home, unit: str) -> Path:
    """The file with the output of a unit."""
    return home.logs / log_name(unit)


def log_name(unit: str) -> str:
    """The name of that file: each module, MCP server and connector has one of its own, all sandboxes share one."""
    kind, _, instance = unit.partition("@")
    # Sandboxes come and go with the conversations: a file for each would be files without end.
    return f"{kind}-{instance}.log" if kind in ("module", "mcp", "connector") else f"{kind}.log"


def older(path: Path) -> Path:
    """The file in which `shorten` keeps the older part of a log."""
    return path.with_name(f"{path.name}{_OLDER}")


@contextlib.contextmanager
def followed(path: Path) -> Iterator[None]:
    """Go on in the file of this name, if our output goes there and the block has put another one in its place."""
    is_ours = _is_output(path)
    yield
    if is_ours and not _is_output(path):
        path.parent.mkdir(mode=0o700, exist_ok=True)
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        for number in (1, 2):
            os.dup2(descriptor, number)
        os.close(descriptor)


def _is_output(path: Path) -> bool:
    try:
        return os.path.samestat(path.stat(), os.fstat(1))
    except OSError:
        return False


async def keep_short(folder: Path) -> None:
    """Shorten the logs in a folder whenever one has grown over LIMIT bytes, until cancelled."""
    failed: set[str] = set()
    while True:
        for path in await asyncio.to_thread(_grown, folder):
            try:
                await asyncio.to_thread(shorten, path)
                failed.discard(path.name)
            except OSError as error:
                if path.name not in failed:  # said once: this goes to a log, too
                    log.warning("%s cannot be shortened: %s.", path, error.strerror or error)
                failed.add(path.name)
        await asyncio.sleep(_LOOK_SECONDS)


def shorten(path: Path) -> None:
    """Move the newest KEPT bytes of a log to `older(path)` and empty it, while others write to it.

    A line says what was dropped. Where the newest bytes cannot be kept, since the disk is full, they are
    dropped as well. Error: OSError, and then the log is as it was.
    """
    with Folder.open(path.parent) as folder:
        _shorten(folder, path.name)


def _shorten(folder: Folder, name: str) -> None:
    with os.fdopen(folder.descriptor(name, os.O_RDWR | os.O_NONBLOCK), "r+b") as file:
        start = _line_start(file, max(0, _size(file) - KEPT))
        try:
            end = _keep(file, start, folder, f"{name}{_OLDER}")
            why = None
        except OSError as error:
            end, why = 0, error.strerror or str(error)
        # Emptied in place and not renamed: nobody tells the writers to open another file. All of them have opened it with
        # O_APPEND, and so go on at its new end.
        note = _note(max(0, _size(file) - end), why)
        os.ftruncate(file.fileno(), len(note))
        os.pwrite(file.fileno(), note, 0)


def unread(kept: bytes, now: bytes, position: int) -> bytes:
    """The unread rest, from a position on, of a log that was shortened.

    `kept` is the content of `older`, `now` the beginning of what the log is since.
    """
    found = _DROPPED.match(kept)
    if not found or not _SHORTENED.match(now):
        return b""  # it could not be kept
    begin = kept.index(b"\n") + 1
    missed = position < int(found[1])
    return kept if missed else kept[begin + position - int(found[1]) :]


def _note(lost: int, why: str | None) -> bytes:
    if why:
        said = f"{lost} bytes were dropped here, since they could not be kept: {why}"
    elif lost:
        said = f"shortened; at least {lost} bytes were dropped meanwhile"
    else:
        said = "shortened; what came in this very moment may be missing"
    return f"-- {time.strftime('%Y-%m-%d %H:%M:%S')} {said} --\n".encode()


def _grown(folder: Path) -> list[Path]:
    try:
        with Folder.open(folder) as opened:
            return [folder / each.name for each in opened.entries() if each.name.endswith(".log") and _is_grown(each)]
    except OSError:  # it is looked at again soon: too many open files, for instance, are not there for ever
        return []


def _is_grown(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_file(follow_symlinks=False) and entry.stat(follow_symlinks=False).st_size > LIMIT
    except FileNotFoundError:  # it was replaced just now
        return False


def _keep(file: BinaryIO, start: int, folder: Folder, target: str) -> int:
    """Copy the log from `start` on to `target`, and return up to which byte that was."""
    status = folder.status(target)
    before = status.st_size if status else 0
    with folder.replacement(target, 0o600) as kept:
        kept.write(b"-- %d bytes were dropped here: %d of this log, %d before --\n" % (start + before, start, before))
        end = _copy(file, kept, start, _size(file))
        kept.sync()
        # What came meanwhile, which may come faster than we copy.
        for _ in range(_ROUNDS):
            if end - start >= 2 * KEPT or (size := _size(file)) == end:
                break
            end = _copy(file, kept, end, min(size, start + 2 * KEPT))
        if end and os.pread(file.fileno(), 1, end - 1) != b"\n":
            kept.write(b"\n")
        kept.commit(synced=False)
    return end


def _copy(file: BinaryIO, kept: Replacement, start: int, end: int) -> int:
    while start < end and (data := os.pread(file.fileno(), min(_CHUNK, end - start), start)):
        kept.write(data)
        start += len(data)
    return start


def _line_start(file: BinaryIO, position: int) -> int:
    """The beginning of the next line; a very long line is cut."""
    if position == 0:
        return 0
    found = os.pread(file.fileno(), _CHUNK, position - 1).find(b"\n")
    return position + max(found, 0)


def _size(file: BinaryIO) -> int:
    return os.fstat(file.fileno()).st_size
