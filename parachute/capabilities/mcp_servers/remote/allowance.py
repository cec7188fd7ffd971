"""Limit on the data from a remote server, and the reason why its connection has ended."""

import asyncio
import time
from collections import deque

from parachute.base.errors import ParachuteError, Unavailable
from parachute.chat.agent_processes.tools import LONGEST_CALL_SECONDS

MESSAGE_LIMIT = 2 * 1024 * 1024
"""Bytes of one message of a server."""

_BYTES, _LINES, _REQUESTS = 32 * 1024 * 1024, 6_000, 30
"""Bytes, lines of event streams, and requests to the server, for each request of ours."""

_TOKENS = 8

_ANSWER_SECONDS = 180.0
"""A stream that answers one request ends after that without a report of progress, whoever still waits for it."""


class Allowance:
    """Counts what comes; `failure` is the last thing that went wrong, `ended` is set when nothing can come any more."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.ended = asyncio.Event()
        self.failure: ParachuteError | None = None
        self.tokens: deque[str] = deque(maxlen=_TOKENS)
        """Tokens that it was sent last."""
        self.renew()

    def renew(self) -> None:
        """Begin a request: the server may send as much again."""
        self._bytes, self._lines, self._requests = _BYTES, _LINES, _REQUESTS
        self.renewed = time.monotonic()
        if not self.ended.is_set():
            self.failure = None

    def fail(self, error: ParachuteError) -> ParachuteError:
        """Note what went wrong with a request."""
        if not self.ended.is_set():
            self.failure = error
        return error

    def end(self, error: ParachuteError) -> ParachuteError:
        """Note why nothing of this server is read any more."""
        self.fail(error)
        self.ended.set()
        return error

    def error(self) -> ParachuteError:
        """Return why the connection has ended."""
        return self.failure or Unavailable(
            f"The MCP server {self.name} has ended the connection.", key="server_hung_up"
        )

    def call(self) -> None:
        """Count a request to the server; error: Unavailable if its answers made us ask too often."""
        self._requests -= 1
        if self._requests < 0:
            raise self.end(
                Unavailable(
                    f"The MCP server {self.name} has itself asked again and again, and was disconnected.",
                    key="server_asks_too_often",
                )
            )

    def take(self, chunk: bytes, *, is_stream: bool) -> None:
        """Count what has come; error: Unavailable if it is too much."""
        self._bytes -= len(chunk)
        if is_stream:
            self._lines -= chunk.count(b"\n")
        if self._bytes < 0 or self._lines < 0:
            raise self.end(
                Unavailable(f"The MCP server {self.name} sent too much data and was disconnected.", key="flood")
            )

    def message(self, size: int) -> None:
        """Judge the size of one message; error: Unavailable if it is too large."""
        if size > MESSAGE_LIMIT:
            limit = f"{MESSAGE_LIMIT:,}"
            raise self.end(
                Unavailable(
                    f"The MCP server {self.name} sent a message of more than {limit} bytes, and was disconnected.",
                    key="flood",
                )
            )


class Deadline:
    """The end of one answer."""

    def __init__(self, allowance: Allowance) -> None:
        self._allowance = allowance
        self._began = time.monotonic()

    @property
    def is_over(self) -> bool:
        """True when it has taken too long."""
        renewed = max(self._began, self._allowance.renewed)
        return time.monotonic() > min(renewed, self._began + LONGEST_CALL_SECONDS) + _ANSWER_SECONDS
