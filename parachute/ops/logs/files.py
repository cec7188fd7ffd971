"""The ends of the files in `~/.parachute/logs`, also while they grow and are shortened."""

import os
from pathlib import Path
from typing import BinaryIO

from parachute.base.errors import NotFound
from parachute.config.settings.home import Home
from parachute.supervisor.logs import log_name, older, unread

_LIMIT = 4 * 1024 * 1024
_LONGEST_LINE = 64 * 1024
_HEAD = 64


def names(home: Home) -> list[str]:
    """The logs that there are, without `.log`."""
    return sorted(path.stem for path in home.logs.glob("*.log") if path.is_file())


def find(home: Home, name: str) -> str:
    """The log of a unit (`core`, `module@daily`), a module (`daily`) or a messenger (`telegram`).

    Error: NotFound, with the names that there are.
    """
    known = names(home)
    for unit in (name, f"module@{name}", f"connector@{name}"):
        for found in (unit, log_name(unit).removesuffix(".log")):
            if found in known:
                return found
    raise NotFound(
        f"There is no log {name!r}.",
        f"There are: {', '.join(known)}." if known else "Nothing has run yet.",
        key="no_such_log",
    )


def size(path: Path) -> int:
    """Return the size of the file in bytes, 0 if it is not there."""
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0


def tail(path: Path, lines: int, since: int | None = None, until: int | None = None) -> list[str]:
    """The last lines of a log, with what the supervisor has kept of it before; at most 4 MiB of each file are read.

    `since`: only those behind that byte of the file, or all of it if it was shortened meanwhile. `until`: only those before.
    """
    found = _end(path, since or 0, until)
    if since is None and len(found) < lines:
        found = _end(older(path), 0, None) + found
    return found[-lines:] if lines > 0 else []


def _end(path: Path, since: int, until: int | None) -> list[str]:
    try:
        with path.open("rb") as file:
            size = file.seek(0, os.SEEK_END)
            end = size if until is None else min(size, until)
            start = max(since if since <= end else 0, end - _LIMIT)
            file.seek(start)
            return file.read(end - start).decode(errors="replace").splitlines()
    except FileNotFoundError:
        return []


class Follower:
    """Reads whole lines of a log as they come, from `position` on, which is the beginning of its last line or of the file."""

    def __init__(self, path: Path, *, at_end: bool) -> None:
        self._path = path
        self._head = b""
        self._rest = b""
        self.position = 0
        if at_end:
            with path.open("rb") as file:
                self._head = file.read(_HEAD)
                size = file.seek(0, os.SEEK_END)
                file.seek(max(0, size - _LONGEST_LINE))
                last = file.read(_LONGEST_LINE)
                self.position = size - (len(last) - last.rfind(b"\n") - 1)

    def lines(self) -> list[str]:
        """The lines that have come since the last call."""
        try:
            with self._path.open("rb") as file:
                found = self._read(file)
        except FileNotFoundError:
            return []
        *lines, self._rest = (self._rest + found).split(b"\n")
        if len(self._rest) > _LONGEST_LINE:
            lines.append(self._rest)
            self._rest = b""
        return [line.decode(errors="replace") for line in lines]

    def _read(self, file: BinaryIO) -> bytes:
        head, before = file.read(_HEAD), b""
        if file.seek(0, os.SEEK_END) < self.position or not head.startswith(self._head):
            # It was shortened. The rest of what it held then is in the other file.
            kept = older(self._path)
            before = unread(kept.read_bytes(), head, self.position) if kept.is_file() else b""
            self.position = 0
        self._head = head
        file.seek(self.position)
        found = file.read(_LIMIT)
        self.position += len(found)
        return before + found
