"""Timestamps of the API and the databases, and time that only passes."""

import time
from datetime import UTC, datetime

# Where the system counts it, the time in which the machine slept passes, too.
_CLOCK = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)


def now() -> str:
    """The current time."""
    return as_text(datetime.now(UTC))


def as_text(moment: datetime) -> str:
    """Format a time as UTC with milliseconds and a `Z`: the app would read a time without a zone as local."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def elapsed() -> float:
    """Seconds from a moment in the past; whoever sets the clock does not change them."""
    return time.clock_gettime(_CLOCK)
