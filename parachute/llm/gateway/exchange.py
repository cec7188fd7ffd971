"""The agent's side of one request: the answer it gets, the refusal, and that it may leave."""

import asyncio
import contextlib
import json
from collections.abc import Coroutine
from typing import Any

from starlette.types import Receive, Send

from parachute.llm.gateway.models import Usage


class Refused(Exception):
    """The request is not passed on; the agent gets `status` and `kind`, the app the problem's code, and its key if it has one."""

    def __init__(self, status: int, kind: str, message: str, code: str | None = None, key: str = "") -> None:
        super().__init__(message)
        self.status, self.kind, self.message, self.code, self.key = status, kind, message, code, key


class Exchange:
    """The agent's side of one request; `status` is 0 until the answer has begun, `used` is what it has cost."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self.status = 0
        self.complete = False
        self.model: str | None = None
        self.used: Usage | None = None

    async def start(self, status: int, headers: list[tuple[str, str]]) -> None:
        """Begin the answer."""
        self.status = status
        encoded = [(name.encode(), value.encode("latin-1", errors="replace")) for name, value in headers]
        await self._send({"type": "http.response.start", "status": status, "headers": encoded})

    async def part(self, data: bytes) -> None:
        """Send a part of the answer."""
        await self._send({"type": "http.response.body", "body": data, "more_body": True})

    async def end(self) -> None:
        """Complete the answer."""
        await self._send({"type": "http.response.body", "body": b""})
        self.complete = True

    async def refuse(self, refusal: Refused) -> None:
        """Answer that the request is not passed on."""
        body = json.dumps({"type": "error", "error": {"type": refusal.kind, "message": refusal.message}}).encode()
        await self.start(refusal.status, [("content-type", "application/json"), ("content-length", str(len(body)))])
        await self.part(body)
        await self.end()


async def unless_left(receive: Receive, exchange: Exchange, passing: Coroutine[Any, Any, None]) -> None:
    """Carry out `passing`, and end it when the agent leaves: nobody would read the answer, but somebody would pay."""

    async def left() -> None:
        while (await receive())["type"] != "http.disconnect":
            pass

    work, leaving = asyncio.ensure_future(passing), asyncio.ensure_future(left())
    try:
        both: set[asyncio.Future[Any]] = {work, leaving}
        await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
        # The server says the same when the answer is complete.
        if work.done() or exchange.complete:
            await work
    finally:
        leaving.cancel()
        if not work.done():
            work.cancel()
            with contextlib.suppress(asyncio.CancelledError, Refused):
                await work
