"""Waiting for what an installation tells in its feed of changes."""

import time
from collections.abc import Callable
from typing import Any

import httpx2

from tests.support.installation import PLAIN, Installation
from tests.support.waiting import SECONDS


def when_told(installation: Installation, condition: Callable[[], Any], what: str) -> Any:
    """Try a condition at each change that the feed tells, first when it is followed, and return its value.

    It is for what is told after it has become so: a change that is told before would not be looked at again.
    """
    deadline = time.monotonic() + SECONDS
    with httpx2.stream("GET", f"{installation.url}/api/events", timeout=SECONDS, **PLAIN) as response:
        assert response.status_code == 200
        for line in response.iter_lines():
            if line.startswith("data:") and (found := condition()):
                return found
            if time.monotonic() > deadline:
                break
    raise AssertionError(f"Waited {SECONDS:.0f} s until {what}.\n{installation.logs()}")
