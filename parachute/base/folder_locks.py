"""Locks that are folders, as programs on Node take them (proper-lockfile): whoever can make the folder holds it."""

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator
from pathlib import Path

from parachute.base.errors import Unavailable

_PAUSE_SECONDS = 0.5


@contextlib.asynccontextmanager
async def folder_lock(path: Path, *, stale_seconds: float, wait_seconds: float) -> AsyncIterator[None]:
    """Hold the lock `path` within the block, which has to end before others take it for left behind (`stale_seconds`).

    Errors: Unavailable if somebody else holds it for `wait_seconds`, OSError.
    """
    deadline = time.monotonic() + wait_seconds
    while not await asyncio.to_thread(_taken, path, stale_seconds):
        if time.monotonic() >= deadline:
            raise Unavailable(f"Another program holds {path}.", "Try again in a minute.", key="locked")
        await asyncio.sleep(_PAUSE_SECONDS)
    try:
        yield
    finally:
        # Gone if somebody took it for left behind, after this machine had slept.
        with contextlib.suppress(OSError):
            path.rmdir()


def _taken(path: Path, stale_seconds: float) -> bool:
    try:
        path.mkdir(0o700)
    except FileExistsError:
        with contextlib.suppress(FileNotFoundError):
            if time.time() - path.lstat().st_mtime < stale_seconds:
                return False
            path.rmdir()
        with contextlib.suppress(FileExistsError):
            path.mkdir(0o700)
            return True
        return False
    return True
