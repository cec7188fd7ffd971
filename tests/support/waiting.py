"""Waiting for what no event announces, such as what another process does; `changes`, `pipes` and `feed` are for what one does."""

import asyncio
import errno
import inspect
import itertools
import time
from collections.abc import Callable, Iterator
from typing import Any

import psutil

SECONDS = 60.0
"""The longest wait for what takes milliseconds; a loaded machine needs thousands of them."""


def _pauses() -> Iterator[float]:
    """Seconds between two looks: what takes long is looked at less often, since looking takes the time of what it waits for."""
    pause = 0.01
    while True:
        yield pause
        pause = min(pause * 1.5, 0.1)


def wait_until(
    condition: Callable[[], Any],
    what: str,
    report: Callable[[], str] = lambda: "",
    *,
    seconds: float = SECONDS,
    seconds_between: float | None = None,
) -> Any:
    """Poll until a condition holds, and return its value; fail after a minute or `seconds`, with a report."""
    deadline = time.monotonic() + seconds
    pauses = _pauses() if seconds_between is None else itertools.repeat(seconds_between)
    while not (found := condition()):
        assert time.monotonic() < deadline, f"Waited {seconds:.0f} s until {what}.\n{report()}"
        time.sleep(next(pauses))
    return found


def still_running(processes: list[psutil.Process], seconds: float = SECONDS) -> list[psutil.Process]:
    """Wait until these processes have ended, and return those that have not."""
    deadline = time.monotonic() + seconds
    while True:
        try:
            return psutil.wait_procs(processes, timeout=max(0, deadline - time.monotonic()))[1]
        except OSError as error:
            # The answer for a process that is just being removed: psutil takes it for a failure (its issue 2715).
            if error.errno not in (errno.ENOENT, errno.EINVAL):
                raise
            processes = [process for process in processes if process.is_running()]


async def until(condition: Callable[[], Any], what: str, report: Callable[[], str] = lambda: "") -> Any:
    """Poll as `wait_until` does, without blocking the event loop; the condition may be a coroutine function."""
    deadline, pauses = time.monotonic() + SECONDS, _pauses()
    while True:
        found = condition()
        if inspect.isawaitable(found):
            found = await found
        if found:
            return found
        assert time.monotonic() < deadline, f"Waited {SECONDS:.0f} s until {what}.\n{report()}"
        await asyncio.sleep(next(pauses))
