"""Locks that are folders, as programs on Node take them (proper-lockfile): whoever can make the folder holds it."""

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator
from pathlib import Path

from parachute.base.clock import SYSTEM, Clock
from parachute.base.errors import Unavailable

_PAUSE_SECONDS = 0.5

_Identity = tuple[int, int]
"""Identity of a folder: its number, which a later one may get again, and its time of creation."""


@contextlib.asynccontextmanager
async def folder_lock(
    path: Path, *, stale_seconds: float, wait_seconds: float, clock: Clock = SYSTEM
) -> AsyncIterator[None]:
    """Hold the lock `path` within the block, which has to end before others take it for left behind (`stale_seconds`).

    Errors: Unavailable if somebody else holds it for `wait_seconds`, OSError.
    """
    deadline = clock.awake() + wait_seconds
    while (held := await asyncio.to_thread(_taken, path, stale_seconds)) is None:
        if clock.awake() >= deadline:
            raise Unavailable(f"Another program holds {path}.", "Try again in a minute.", key="locked")
        await clock.sleep(_PAUSE_SECONDS)
    try:
        yield
    finally:
        # Somebody else's if this machine has slept for longer.
        with contextlib.suppress(OSError):
            if _identity(path) == held:
                path.rmdir()


def _taken(path: Path, stale_seconds: float) -> _Identity | None:
    with contextlib.suppress(FileNotFoundError):
        if time.time() - path.lstat().st_mtime < stale_seconds:
            return None
        path.rmdir()
    try:
        path.mkdir(0o700)
    except FileExistsError:
        return None
    return _identity(path)


def _identity(path: Path) -> _Identity:
    status = path.lstat()
    return status.st_ino, status.st_mtime_ns
