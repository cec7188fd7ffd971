"""The files of trust as they are before anybody reads them."""

import os
import stat
from dataclasses import dataclass
from pathlib import Path

MOST = 20_000
_UNSEEN = frozenset({"modules", "module-data", "run", "backup/cache"})
"""Copies of code, of which some are executable, what modules keep, sockets that sandboxes reach as another user, and restic's
cache: each closed by the folder that it lies in."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A file or folder; `mode` without its type."""

    path: Path
    mode: int
    owner: int
    is_folder: bool
    is_link: bool


def entries(root: Path) -> tuple[Entry, ...]:
    """The folder and what is in it, links not followed; empty where it does not exist, and at most 20,000 of them."""
    found: list[Entry] = []
    waiting = [root]
    while waiting and len(found) < MOST:
        path = waiting.pop()
        try:
            status = path.lstat()
        except OSError:
            continue
        is_folder = stat.S_ISDIR(status.st_mode)
        mode = stat.S_IMODE(status.st_mode)
        found.append(Entry(path, mode, status.st_uid, is_folder, stat.S_ISLNK(status.st_mode)))
        if is_folder and str(path.relative_to(root)) not in _UNSEEN:
            try:
                with os.scandir(path) as inside:
                    waiting += sorted(Path(entry.path) for entry in inside)
            except OSError:
                continue
    return tuple(found)
