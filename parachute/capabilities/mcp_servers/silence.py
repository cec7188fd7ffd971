"""The silence of a server that works on a call, and what it reports of its progress meanwhile."""

import math
from collections.abc import Callable
from typing import Protocol

from parachute.base.clock import Clock
from parachute.chat.agent_processes.progress import Tell
from parachute.chat.agent_processes.tools import LONGEST_CALL_SECONDS

_LONGEST = 200
"""Characters of a report."""


class Hearing(Protocol):
    """The connection, as far as its reports go."""

    def asked(self) -> None:
        """Let the server send as much again."""

    def cleaned(self, text: str) -> str:
        """Take secrets out of what the server says."""


class Silence:
    """The time left to a silent server: a report of its progress begins it anew, up to the longest call.

    `tell` shows such reports, one in a second; `asks` is true while the server waits for its owner.
    """

    def __init__(
        self, tool: str, seconds: float, link: Hearing, clock: Clock, tell: Tell | None, asks: Callable[[], bool]
    ) -> None:
        self.tool = tool
        self._tell = tell
        self._told = -math.inf
        self._asks = asks
        self._seconds = seconds
        self._clock = clock
        self._link = link
        self._began = self._heard = self._renewed = self._clock.awake()

    async def broken(self, progress: float, total: float | None, message: str | None) -> None:
        """Hear of progress."""
        self.heard()
        if self._tell is not None and self._heard - self._told >= 1:
            self._told = self._heard
            self._tell(_words(self._link, progress, total, message))

    def heard(self) -> None:
        """Hear of the server, or of its owner who has answered it; what it may send is renewed once a second."""
        self._heard = self._clock.awake()
        if self._heard - self._renewed >= 1:
            self._renewed = self._heard
            self._link.asked()

    def left(self) -> float:
        """Seconds until it has been silent for too long, none if it has."""
        if self._asks():
            self.heard()  # its stream stays open meanwhile
        return min(self._heard + self._seconds, self._began + LONGEST_CALL_SECONDS) - self._clock.awake()


def _words(link: Hearing, progress: float, total: float | None, message: str | None) -> str:
    """A report in one line: what the server says, and how far it is where it knows its end."""
    said = " ".join("".join(sign if sign.isprintable() else " " for sign in link.cleaned(message or "")).split())
    count = f"{progress:g}/{total:g}" if total else f"{progress:g}"
    return f"{said[:_LONGEST]} ({count})" if said else count
