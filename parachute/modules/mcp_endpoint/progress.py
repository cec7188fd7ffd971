"""Progress of a call that takes long: the seconds that it has taken, so that whoever waits knows that it is at work."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from typing import Any

from parachute.base.errors import ParachuteError
from parachute.base.mcp_messages import INTERNAL, Wrong, refusal
from parachute.web.http.event_stream import event_of

SECONDS = 3.0
"""After these a call counts as long, and between two pieces of news of it."""


class Progress:
    """The way in which one message is answered; without a token, or where no stream is accepted, it is one document."""

    def __init__(self, identifier: object, params: Mapping[str, Any] | None, *, accepts_stream: bool) -> None:
        self._id = identifier
        meta = (params or {}).get("_meta")
        token = meta.get("progressToken") if isinstance(meta, dict) else None
        is_token = isinstance(token, str | int) and not isinstance(token, bool) and len(str(token)) <= 100
        self._token = token if accepts_stream and is_token else None
        self._is_stream = False

    def framed(self, data: bytes) -> bytes:
        """An answer as it is sent."""
        return event_of(data) if self._is_stream else data

    async def begins(self, work: asyncio.Task[bytes | None]) -> bool:
        """Wait for an answer, and return true where a stream is to begin because it takes long."""
        if self._token is None:
            return False
        try:
            await asyncio.wait({work}, timeout=SECONDS)
        except asyncio.CancelledError:
            work.cancel()
            raise
        self._is_stream = not work.done()
        return self._is_stream

    async def events(self, work: asyncio.Task[bytes | None]) -> AsyncIterator[tuple[int, Mapping[str, Any] | bytes]]:
        """News until the answer, which is the last event, as it was framed; whoever leaves has cancelled it."""
        count = 0
        try:
            while not work.done():
                count += 1
                params = {"progressToken": self._token, "progress": count * SECONDS, "message": "Still at work."}
                yield 0, {"jsonrpc": "2.0", "method": "notifications/progress", "params": params}
                await asyncio.wait({work}, timeout=SECONDS)
            try:
                yield 0, work.result() or b""
            except ParachuteError as error:
                yield 0, refusal(self._id, Wrong(INTERNAL, str(error)))
        finally:
            work.cancel()
