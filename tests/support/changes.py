"""Changes of records that tests wait for: whatever changes them tells it, and whoever waits looks again at once."""

import asyncio
import threading
import time
from collections.abc import Callable
from typing import Any

from tests.support.waiting import SECONDS


class Changes:
    """Told by whatever changes a record, from any thread; tests wait here until the record is as they expect."""

    def __init__(self) -> None:
        self._told = threading.Condition()
        self._count = 0
        self._waiting: dict[asyncio.Event, asyncio.AbstractEventLoop] = {}

    def tell(self) -> None:
        """Have everybody look again; called after a change."""
        with self._told:
            self._count += 1
            self._told.notify_all()
            waiting = list(self._waiting.items())
        for event, loop in waiting:
            loop.call_soon_threadsafe(event.set)

    def wait(
        self,
        condition: Callable[[], Any],
        what: str,
        report: Callable[[], str] = lambda: "",
        *,
        seconds: float = SECONDS,
    ) -> Any:
        """Block until a condition holds, which is tried after each change, and return its value."""
        deadline = time.monotonic() + seconds
        while True:
            # It is tried without the lock, so that it may take long, and ask those who tell.
            seen = self._count
            if found := condition():
                return found
            is_told = self._wait_for_more(seen, deadline - time.monotonic())
            assert is_told, f"Waited {seconds:.0f} s until {what}.\n{report()}"

    async def happens(self, condition: Callable[[], Any], what: str, report: Callable[[], str] = lambda: "") -> Any:
        """Wait as `wait` does, without blocking the event loop."""
        event = asyncio.Event()
        with self._told:
            self._waiting[event] = asyncio.get_running_loop()
        try:
            async with asyncio.timeout(SECONDS):
                while not (found := condition()):
                    await event.wait()
                    event.clear()
        except TimeoutError:
            raise AssertionError(f"Waited {SECONDS:.0f} s until {what}.\n{report()}") from None
        finally:
            with self._told:
                del self._waiting[event]
        return found

    def _wait_for_more(self, seen: int, seconds: float) -> bool:
        with self._told:
            return self._told.wait_for(lambda: self._count != seen, seconds)
