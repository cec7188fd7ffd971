"""Knows whether anything is going on, and when it last was."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager

from parachute.base.clock import SYSTEM, Clock


class Activity:
    """Counts what is under way; the idle time runs from the end of the last of it."""

    def __init__(self, clock: Clock = SYSTEM) -> None:
        self._clock = clock
        self._under_way = 0
        self._last = self._clock.awake()
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
        self._last = self._clock.awake()

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
            left = self._last + seconds - self._clock.awake()
            if left <= 0:
                return
            await self._clock.sleep(left)
