"""How far a restore has come: restic before 0.16 does not say it, but what it has written can be counted."""

import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

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
            progress.part(min(_held(str(folder)) / needed, 1.0))
            pause = max(_LOOK_SECONDS, (time.monotonic() - began) * _SHARE)

    thread = threading.Thread(target=look, name="restore progress", daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def _held(folder: str) -> int:
    """The bytes of the files below a folder that are on the disk, of each at most its length."""
    found = 0
    waiting = [folder]
    while waiting:
        with suppress(OSError), os.scandir(waiting.pop()) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    waiting.append(entry.path)
                elif entry.is_file(follow_symlinks=False):
                    status = entry.stat(follow_symlinks=False)
                    # Files are made as long as they will be before anything is in them.
                    found += min(status.st_size, status.st_blocks * _BLOCK)
    return found
