"""Knows whether anything is going on, and when it last was."""

import asyncio
import time
from collections.abc import Iterator
from contextlib import contextmanager


class Activity:
    """Counts what is under way; the idle time runs from the end of the last of it."""

    def __init__(self) -> None:
        self._under_way = 0
        self._last = time.monotonic()
        self._quiet = asyncio.Event()
        self._quiet.set()

    def begin(self) -> None:
        """Something starts; `end` must follow."""
        self._under_way += 1
        self._quiet.clear()

    def end(self) -> None:
        """Something that began has ended."""
        self._under_way -= 1
        self.touch()
        if self._under_way == 0:
            self._quiet.set()

    def touch(self) -> None:
        """Start the idle time anew."""
        self._last = time.monotonic()

    @contextmanager
    def under_way(self) -> Iterator[None]:
        """Hold the process alive for the time of a block."""
        self.begin()
        try:
            yield
        finally:
            self.end()

    async def idle(self, seconds: float) -> None:
        """Return when nothing has happened for so long."""
        while True:
            await self._quiet.wait()
            left = self._last + seconds - time.monotonic()
            if left <= 0:
                return
            await asyncio.sleep(left)
