"""Caches of package managers, a few for each project: only sandboxes of a project use what others of it have left there."""

import contextlib
import hashlib
import os
import time
from pathlib import Path

from parachute.base.files import private_folder, remove_tree
from parachute.config.settings.home import Home
from parachute.sandbox.engines import quota

_UNUSED_SECONDS = 30 * 86400
_ENTRIES = 300_000
_GONE = ".gone"


def place_of(home: Home, project: Path, number: int) -> Path:
    """The folder of a project's caches with this number, from 0 on: its sandboxes need not all have the same."""
    name = hashlib.sha256(os.fsencode(project)).hexdigest()[:16]
    # Whoever mounts it follows no link.
    return home.caches.resolve() / (f"{name}-{number}" if number else name)


def cache_of(home: Home, project: Path, number: int = 0) -> str:
    """A folder of a project's caches, made if need be; empty where the disk takes none. Waits."""
    try:
        folder = private_folder(place_of(home, project, number))
        os.utime(folder)  # used now
    except OSError:
        return ""
    return str(folder)


def tidy(home: Home, megabytes: int) -> None:
    """Remove the caches that are too large, or that nobody has used for a month, while no sandbox runs; waits."""
    with contextlib.suppress(OSError):  # a disk that takes nothing
        for folder in list(home.caches.iterdir()):
            unused = time.time() - folder.lstat().st_mtime > _UNUSED_SECONDS
            if folder.name.startswith(_GONE) or unused or is_too_large(folder, megabytes):
                remove(put_aside(folder))


def is_too_large(folder: Path, megabytes: int) -> bool:
    """True for a cache that takes more; waits."""
    return quota.is_over(folder, megabytes << 20, entries=_ENTRIES)


def put_aside(folder: Path) -> Path:
    """Take a cache from where the next sandbox would find it, in a moment, and return where it is now."""
    aside = folder.with_name(f"{_GONE}-{folder.name}-{time.time_ns()}")
    folder.rename(aside)
    return aside


def remove(aside: Path) -> None:
    """Remove what was put aside; what stays is removed at the next start. Waits."""
    with contextlib.suppress(OSError):
        remove_tree(aside)
