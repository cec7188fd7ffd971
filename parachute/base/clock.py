"""The clock: what it shows, the time that only passes, and waiting. Tests hand in one that they advance."""

import asyncio
import contextlib
import time
from datetime import UTC, date, datetime, tzinfo

# Where the system counts it, the time in which the machine slept passes, too.
_PASSES = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)


class Clock:
    """The system's clock; without a `zone` that of this machine. Code of the event loop waits by no other."""

    def __init__(self, zone: tzinfo | None = None) -> None:
        self.zone = zone

    def now(self) -> datetime:
        """The current time, in UTC."""
        return datetime.now(UTC)

    def today(self) -> date:
        """The date in the zone of this clock."""
        return self.now().astimezone(self.zone).date()

    def elapsed(self) -> float:
        """Seconds from a moment in the past; whoever sets the clock does not change them."""
        return time.clock_gettime(_PASSES)

    def awake(self) -> float:
        """Seconds from a moment in the past without those in which the machine slept, as `timeout` and `wait` count them."""
        return time.monotonic()

    async def sleep(self, seconds: float) -> None:
        """Let time pass."""
        await asyncio.sleep(seconds)

    def timeout(self, seconds: float | None) -> contextlib.AbstractAsyncContextManager[asyncio.Timeout, bool | None]:
        """Limit a block as `asyncio.timeout` does; error: TimeoutError."""
        return asyncio.timeout(seconds)

    async def wait(self, event: asyncio.Event, seconds: float | None) -> bool:
        """Wait for an event, and no longer than that; false if it has not come."""
        # Not wait_for: before Python 3.12 it could swallow the cancellation of whoever waits.
        with contextlib.suppress(TimeoutError):
            async with self.timeout(seconds):
                return await event.wait()
        return False


SYSTEM = Clock()
"""The clock of everything that is handed no other."""


def now() -> str:
    """The current time, for a record."""
    return as_text(datetime.now(UTC))


def as_text(moment: datetime) -> str:
    """Format a time as UTC with milliseconds and a `Z`: the app would read a time without a zone as local."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
