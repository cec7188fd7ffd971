"""Server-sent events as the app reads them: `data: ` lines, and comments to keep the connection alive."""

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from typing import Any

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

PING_SECONDS = 15.0
"""The app gives up after three minutes of silence (contract, section 0), proxies often after one."""

_HEADERS = [
    (b"content-type", b"text/event-stream; charset=utf-8"),
    (b"cache-control", b"no-store"),
    (b"x-accel-buffering", b"no"),
]


class EventStream(Response):
    """Send each (seq, event) as one line of JSON with its `seq`; the stream ends quietly when the reader leaves.

    With `ids` each event has an id, too, which a browser names when it comes back: that word and the `seq`. The app reads none.
    What is not `is_numbered` is sent as it is, and bytes are a whole event.
    """

    def __init__(
        self,
        events: AsyncIterator[tuple[int, Mapping[str, Any] | bytes]],
        ids: str | None = None,
        *,
        is_numbered: bool = True,
    ) -> None:
        super().__init__()
        self._is_numbered = is_numbered
        self._events = events
        self._ids = ids

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": _HEADERS})
        gone = asyncio.create_task(disconnected(receive))
        following: asyncio.Future[tuple[int, Mapping[str, Any] | bytes]] | None = None
        try:
            while True:
                if following is None:
                    following = asyncio.ensure_future(anext(self._events))
                both: set[asyncio.Future[Any]] = {following, gone}
                done, _ = await asyncio.wait(both, timeout=PING_SECONDS, return_when=asyncio.FIRST_COMPLETED)
                if gone in done:
                    return
                if not done:
                    await _send(send, b": ping\n\n")
                    continue
                try:
                    seq, event = following.result()
                except StopAsyncIteration:
                    break
                following = None
                await _send(send, self._lines(seq, event))
            await send({"type": "http.response.body", "body": b""})
        finally:
            gone.cancel()
            if following is not None:
                following.cancel()

    def _lines(self, seq: int, event: Mapping[str, Any] | bytes) -> bytes:
        if isinstance(event, bytes):
            return event
        if not self._is_numbered:
            return event_of(encoded(event))
        if self._ids is None:
            return event_of(encoded({**event, "seq": seq}))
        identifier = f"{self._ids}-{seq}"
        return f"id: {identifier}\n".encode() + event_of(encoded({**event, "cursor": identifier}))


def event_of(data: bytes) -> bytes:
    """Make an event of one line."""
    return b"data: " + data + b"\n\n"


def encoded(event: Mapping[str, Any]) -> bytes:
    """Encode an event as one line of JSON that every program can read."""
    try:
        text = json.dumps(event, ensure_ascii=False, allow_nan=False)
    except ValueError:
        # A model wrote NaN or Infinity into the input of a tool: Python reads it, other programs' JSON does not.
        plain = json.loads(json.dumps(event), parse_constant=lambda _: None)
        text = json.dumps(plain, ensure_ascii=False)
    return text.encode(errors="replace")


async def _send(send: Send, body: bytes) -> None:
    await send({"type": "http.response.body", "body": body, "more_body": True})


async def disconnected(receive: Receive) -> None:
    """Wait until the client has gone: what is sent after that vanishes without an error."""
    while (await receive())["type"] != "http.disconnect":
        pass
