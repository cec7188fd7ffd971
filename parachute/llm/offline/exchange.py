"""One HTTP request and its response, over the ASGI messages."""

import asyncio
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from parachute.base.errors import InvalidInput, ParachuteError
from parachute.llm.offline.model_file import ModelUnavailable
from parachute.llm.offline.replies import Document, encode, encode_event, error_document, error_status
from parachute.web.http.incoming import Incoming

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]

BODY_LIMIT = 32 * 1024 * 1024  # of the Messages API
# A client that is still sending would see a broken connection and not our answer, so the rest is read and dropped.
_DROP_LIMIT = 4 * BODY_LIMIT
_BODY_SECONDS = 120.0


class Exchange:
    """Reads a bounded body and answers with one document or with a stream of events."""

    def __init__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.method: str = scope["method"]
        self.path: str = scope["path"]
        self._incoming = Incoming(receive, has_body=True)
        self._send = send
        self.started = False

    async def body(self) -> bytes:
        """The whole body; errors: ParachuteError when it is too long, InvalidInput when it takes too long, Gone."""
        chunks: list[bytes] = []
        size = 0
        try:
            async with asyncio.timeout(_BODY_SECONDS):
                async for chunk in self._incoming.chunks():
                    size += len(chunk)
                    if size <= BODY_LIMIT:
                        chunks.append(chunk)
                    else:
                        chunks.clear()
                    if size > _DROP_LIMIT:
                        break
        except TimeoutError as error:
            raise InvalidInput(
                f"The body did not arrive within {_BODY_SECONDS:.0f} seconds.", key="body_too_slow"
            ) from error
        if size > BODY_LIMIT:
            raise ParachuteError(f"The body is larger than {BODY_LIMIT:,} bytes.", status=413, key="body_too_large")
        return b"".join(chunks)

    async def gone(self) -> None:
        """Return when the client has left; call it only after the body was read."""
        await self._incoming.gone()

    async def answer(self, status: int, document: Document, headers: dict[str, str] | None = None) -> None:
        """Send one JSON document."""
        body = encode(document)
        await self._start(
            status, {"content-type": "application/json", "content-length": str(len(body)), **(headers or {})}
        )
        await self._send({"type": "http.response.body", "body": body})

    async def start_stream(self) -> None:
        """Begin a stream of events."""
        await self._start(200, {"content-type": "text/event-stream; charset=utf-8", "cache-control": "no-cache"})

    async def event(self, document: Document) -> None:
        """Send one event."""
        await self._send({"type": "http.response.body", "body": encode_event(document), "more_body": True})

    async def end_stream(self) -> None:
        """End the stream."""
        await self._send({"type": "http.response.body", "body": b""})

    async def fail(self, error: ParachuteError) -> None:
        """Send an error: as the response, or as the last event of a stream that has begun."""
        if self.started:
            await self.event(error_document(error))
            await self.end_stream()
            return
        headers: dict[str, str] = {}
        if isinstance(error, ModelUnavailable):
            headers["x-should-retry"] = "false"  # understood by Anthropic's clients
        elif error.key == "overloaded_error":
            headers["retry-after"] = "5"
        await self.answer(error_status(error), error_document(error), headers)

    async def _start(self, status: int, headers: dict[str, str]) -> None:
        self.started = True
        # One request per connection: a second one could arrive just as this process leaves, and would be lost.
        headers = {**headers, "connection": "close"}
        await self._send(
            {
                "type": "http.response.start",
                "status": status,
                "headers": [(name.encode(), value.encode()) for name, value in headers.items()],
            }
        )
