"""A latch between a test and the thread that a fake server runs in."""

import asyncio
import threading

from .waiting import SECONDS as DEADLINE


class Gate:
    """A closed gate at which streams wait until the test opens it, from any thread or task."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._open = False
        self._waiting: list[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = []
        self._reached = threading.Event()

    @property
    def is_open(self) -> bool:
        """Return whether streams pass without waiting."""
        return self._open

    def open(self) -> None:
        """Let through every stream that waits and every one that comes later."""
        with self._lock:
            self._open = True
            waiting, self._waiting = self._waiting, []
        for loop, event in waiting:
            # A stream whose client went away may have taken its loop with it.
            if not loop.is_closed():
                loop.call_soon_threadsafe(event.set)

    async def passed(self) -> None:
        """Return once the gate is open."""
        event = asyncio.Event()
        with self._lock:
            if self._open:
                event.set()
            else:
                self._waiting.append((asyncio.get_running_loop(), event))
        self._reached.set()
        await event.wait()

    def wait_reached(self, timeout: float = DEADLINE) -> None:
        """Block until a stream stands at the gate; `TimeoutError` after `timeout` seconds."""
        if not self._reached.wait(timeout):
            raise TimeoutError(f"no stream reached the gate within {timeout} s")

    async def reached(self, timeout: float = DEADLINE) -> None:
        """Wait as `wait_reached` does, without blocking the event loop."""
        await asyncio.to_thread(self.wait_reached, timeout)
