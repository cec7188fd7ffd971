"""`{vault}/parachute/memory.md`: what is worth remembering of conversations, as plain Markdown that the user may edit.

Entries stand under headings with their dates, the newest last. Nothing here rewrites the file: it only grows at its end.
Anybody who writes the vault can write it, so conversations that run directly get the entries that are approved, each by itself.
"""

import errno
import fcntl
import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from parachute.base.folders import Folder
from parachute.security.approved_prompts import ApprovedPrompts

FOLDER = "parachute"
FILE = "memory.md"
NAME = f"{FOLDER}/{FILE}"
NEWEST = 8 * 1024
"""Bytes that are read; what is older stays in the file."""

_BEGINNING = "# Memory\n\nWhat this computer remembers of conversations. Change or delete whatever you like.\n"
_TRIES = 10


def newest(vault: Path, limit: int = NEWEST) -> str:
    """The newest part of the memory, beginning with a whole entry or at least a whole line; empty if there is none.

    Error: OSError, also where the folder or the file is a link.
    """
    try:
        descriptor = _open(vault, os.O_RDONLY)
    except FileNotFoundError:
        return ""
    with os.fdopen(descriptor, "rb") as file:
        size = os.fstat(descriptor).st_size
        file.seek(max(0, size - limit))
        text = file.read(limit).decode(errors="replace")
    if size > limit:
        heading = text.find("\n## ")
        text = text[heading + 1 if heading >= 0 else text.find("\n") + 1 :]
    return text.strip()


def entries(text: str) -> list[str]:
    """The entries of a part of the memory, each with its heading; what stands before the first one is none."""
    return [f"## {part.strip()}" for part in f"\n{text}".split("\n## ")[1:]]


def approved(vault: Path, approvals: ApprovedPrompts) -> tuple[str, int]:
    """The approved entries of the newest part, and how many are not; error: OSError."""
    found = entries(newest(vault))
    kept = approvals.approved_parts(NAME, found)
    return "\n\n".join(kept), len(found) - len(kept)


def approve(approvals: ApprovedPrompts, text: str) -> None:
    """Approve every entry of a newest part that somebody has seen; error: InvalidInput."""
    approvals.approve(NAME, text, entries(text))


def approve_entry(vault: Path, approvals: ApprovedPrompts, entry: str) -> None:
    """Approve one entry besides those of the newest part that are approved already; errors: OSError, InvalidInput."""
    found = entries(newest(vault))
    kept = [*approvals.approved_parts(NAME, found), entry]
    approvals.approve(NAME, "\n\n".join(kept), kept)


def append(vault: Path, heading: str, lines: Sequence[str]) -> str:
    """Add an entry and return it; either all of it is there afterwards or nothing. Error: OSError."""
    with Folder.open(vault) as root:
        root.folder(FOLDER, make=True).close()
    with _locked(vault) as descriptor:
        size = os.fstat(descriptor).st_size
        entry = f"\n## {heading}\n\n" + "".join(f"- {line}\n" for line in lines)
        written = entry.strip()
        if size == 0:
            entry = _BEGINNING + entry
        elif os.pread(descriptor, 1, size - 1) != b"\n":
            entry = f"\n{entry}"
        data = entry.encode(errors="replace")
        try:
            if os.write(descriptor, data) != len(data):
                raise OSError(errno.ENOSPC, "the memory could not be written", FILE)
            os.fsync(descriptor)
        except OSError:
            os.ftruncate(descriptor, size)
            raise
    return written


@contextmanager
def _locked(vault: Path) -> Iterator[int]:
    for _ in range(_TRIES):
        descriptor = _open(vault, os.O_RDWR | os.O_CREAT | os.O_APPEND)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            # An editor may have put another file in its place while we waited.
            if _is_same(descriptor, vault / FOLDER / FILE):
                yield descriptor
                return
        finally:
            os.close(descriptor)
    raise OSError(errno.EBUSY, "the memory is being replaced again and again", FILE)


def _open(vault: Path, flags: int) -> int:
    with Folder.open(vault) as folder:
        descriptor = folder.descriptor(f"{FOLDER}/{FILE}", flags | os.O_NONBLOCK)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, "the memory is not a regular file", FILE)
    return descriptor


def _is_same(descriptor: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(descriptor), path.lstat())
    except FileNotFoundError:
        return False
