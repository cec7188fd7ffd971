"""The files of the state directory as they are before anybody reads them."""

import contextlib
import os
import stat
from pathlib import Path

from msgspec import Struct

from parachute.base.folders import Folder, TooMany

MOST = 20_000
_UNSEEN = frozenset(
    {"caches", "meaning", "modules", "module-data", "run", "views", "backup/cache", "backup/parachute-drill"}
)
"""Caches that agents write, the index of meanings, copies of code, of which some are executable, what modules keep, sockets that sandboxes reach as another user, changes
with the permissions of the project that they are for, restic's cache, and the copy that a drill makes: each closed by the folder that it lies in."""


class Entry(Struct, frozen=True):
    """A file or folder; `mode` without its type."""

    path: Path
    mode: int
    owner: int
    is_folder: bool
    is_link: bool


def entries(root: Path) -> tuple[Entry, ...]:
    """The folder and what is in it, links not followed; empty where it does not exist, and at most 20,000 of them."""
    found: list[Entry] = []
    try:
        found.append(_entry(root, root.lstat()))
        with contextlib.suppress(TooMany), Folder.open(root.parent) as above, above.folder(root.name) as folder:
            for place, _, below in folder.walk(most=MOST, unreadable=lambda *_: None):
                for entry in sorted(below, key=lambda entry: entry.name):
                    with contextlib.suppress(OSError):
                        found.append(_entry(root / place / entry.name, entry.stat(follow_symlinks=False)))
                below[:] = [entry for entry in below if f"{place}/{entry.name}".lstrip("/") not in _UNSEEN]
    except OSError:
        return tuple(found)
    return tuple(found[:MOST])


def _entry(path: Path, status: os.stat_result) -> Entry:
    kind = status.st_mode
    return Entry(path, stat.S_IMODE(kind), status.st_uid, stat.S_ISDIR(kind), stat.S_ISLNK(kind))
