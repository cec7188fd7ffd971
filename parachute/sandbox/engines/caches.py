"""Caches of package managers, one for each project: only the sandboxes of a project use what others of it have left there."""

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


def cache_of(home: Home, project: Path) -> str:
    """The folder of a project's caches, made if need be; empty where the disk takes none. Waits."""
    try:
        # Whoever mounts it follows no link.
        folder = private_folder(home.caches.resolve() / hashlib.sha256(os.fsencode(project)).hexdigest()[:16])
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
