"""Progress of a restore: restic before 0.16 does not report it, but the bytes written can be counted."""

import stat
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from parachute.base.files import walk_tree
from parachute.ops.backup.models import Progress

_LOOK_SECONDS = 0.5
_SHARE = 10
"""Counting a large folder takes a moment: at most this part of the time is spent on it."""

_BLOCK = 512


@contextmanager
def watched(folder: Path, needed: int, progress: Progress) -> Iterator[None]:
    """Tell while the block runs how much of `needed` bytes is in a folder."""
    over = threading.Event()

    def look() -> None:
        pause = _LOOK_SECONDS
        while needed and not over.wait(pause):
            began = time.monotonic()
            progress.part(min(_held(folder) / needed, 1.0))
            pause = max(_LOOK_SECONDS, (time.monotonic() - began) * _SHARE)

    thread = threading.Thread(target=look, name="restore progress", daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def _held(folder: Path) -> int:
    """The bytes of the files below a folder that are on the disk, of each at most its length."""
    # Files are made as long as they will be before anything is in them.
    files = (status for _, status in walk_tree(folder) if stat.S_ISREG(status.st_mode))
    return sum(min(status.st_size, status.st_blocks * _BLOCK) for status in files)
