"""The ASGI side of the fake Messages API: it turns replies into bytes, silences and broken connections."""

import asyncio
import json
import socket
import struct
import uuid
from collections.abc import Awaitable, Callable, Iterator, Mapping, MutableMapping
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from .recorded import Log, RecordedRequest, kind_of, parsed
from .replies import AnyReply, ErrorReply, Pause, Reply, Scripted, estimate_tokens, events_of, message_of

Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Connections = dict[tuple[str, int], asyncio.Transport]

MODELS = ("claude-opus-5-5", "claude-sonnet-5-5", "claude-haiku-4-5")


def tracking_protocol(connections: Connections) -> type[HttpToolsProtocol]:
    """Make a uvicorn protocol that keeps each connection's transport, so that the application can break it."""

    class TrackingProtocol(HttpToolsProtocol):
        """HTTP/1.1 as uvicorn speaks it."""

        def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
            """Remember the transport under the client's address, which the ASGI scope names too."""
            super().connection_made(transport)
            if self.client:
                connections[self.client] = transport

        def connection_lost(self, exc: Exception | None) -> None:
            """Forget the transport."""
            if self.client:
                connections.pop(self.client, None)
            super().connection_lost(exc)

    return TrackingProtocol


class MessagesApp:
    """An ASGI application that asks `answer` what to reply to each recorded request.

    `failures` collects what went wrong here or in a callable reply, so that the test hears of it.
    """

    def __init__(self, log: Log, answer: Callable[[RecordedRequest], Scripted]) -> None:
        self.log = log
        self.answer = answer
        self.connections: Connections = {}
        self.failures: list[Exception] = []
        self.window: int | None = None
        """The tokens that `/props` tells, as llama.cpp does; None: there is no such page."""

    async def __call__(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        """Serve one request."""
        raw = b""
        more = True
        while more:
            message = await receive()
            if message["type"] == "http.disconnect":
                return
            raw += message.get("body", b"")
            more = message.get("more_body", False)
        headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}
        method, path, body = scope["method"], scope["path"], parsed(raw)
        request = RecordedRequest(
            method=method,
            path=path,
            query=scope["query_string"].decode("latin-1"),
            headers=headers,
            body=body,
            size=len(raw),
            kind=kind_of(method, path, headers, body),
        )
        self.log.add(request)
        exchange = Exchange(request, receive, send, self.connections.get(scope["client"]), self.log)
        try:
            if path == "/props":
                await exchange.send_props(self.window)
                return
            await exchange.send_reply(await self._choose(request))
        except Exception as failure:
            self.failures.append(failure)
            raise

    async def _choose(self, request: RecordedRequest) -> AnyReply:
        chosen = self.answer(request)
        if isinstance(chosen, (Reply, ErrorReply)):
            return chosen
        try:
            # A callable is code of a test, which may block.
            return await asyncio.to_thread(chosen, request.body)
        except Exception as failure:
            self.failures.append(failure)
            return ErrorReply(500, "api_error", f"The scripted reply failed: {failure!r}")


class Exchange:
    """One request and the answer on its way."""

    def __init__(
        self,
        request: RecordedRequest,
        receive: Receive,
        send: Send,
        transport: asyncio.Transport | None,
        log: Log,
    ) -> None:
        self.request = request
        self._send = send
        self._transport = transport
        self._log = log
        self._receive = receive
        self._request_id = f"req_{uuid.uuid4().hex[:24]}"

    async def send_props(self, window: int | None) -> None:
        """Answer `GET /props`."""
        found = {"default_generation_settings": {"n_ctx": window}} if window else {"error": {"code": 404}}
        await self._json(200 if window else 404, found)

    async def send_reply(self, reply: AnyReply) -> None:
        """Send a reply in the form that the request asked for."""
        if isinstance(reply, ErrorReply):
            await self._json(reply.status, reply.body(self._request_id), reply.headers)
        elif self.request.kind == "count_tokens":
            await self._json(200, {"input_tokens": estimate_tokens(self.request.body)})
        elif self.request.kind == "models":
            await self._json(200, model_list())
        else:
            await self._watched(self._message(reply))

    async def _watched(self, sending: Any) -> None:
        # Only a task that sits in receive() learns that the client left while nothing is being sent.
        answering = asyncio.ensure_future(sending)
        leaving = asyncio.ensure_future(self._client_left())
        try:
            await asyncio.wait({answering, leaving}, return_when=asyncio.FIRST_COMPLETED)
            if not answering.done():
                self._log.add_disconnect()
                return
            answering.result()
        finally:
            for task in (answering, leaving):
                task.cancel()
            await asyncio.gather(answering, leaving, return_exceptions=True)

    async def _client_left(self) -> None:
        while (await self._receive())["type"] != "http.disconnect":
            pass

    async def _message(self, reply: Reply) -> None:
        streamed = bool(self.request.body.get("stream"))
        events = events_of(reply, self.request.body)
        if not streamed:
            for event in events:
                await self._pause(event)
            if reply.drop_after is not None:
                await self._reset()
                return
            await self._json(200, message_of(reply, self.request.body), reply.headers)
            return
        await self._start(200, "text/event-stream; charset=utf-8", {"cache-control": "no-cache", **reply.headers})
        await self._stream(events, reply.drop_after)

    async def _stream(self, events: Iterator[dict[str, Any] | Pause], drop_after: int | None) -> None:
        sent = 0
        for event in events:
            if sent == drop_after:
                await self._reset()
                return
            await self._pause(event)
            if not isinstance(event, Pause):
                payload = f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode()
                await self._send({"type": "http.response.body", "body": payload, "more_body": True})
                sent += 1
        if drop_after is not None:
            raise ValueError(f"drop_after is {drop_after}, but the reply has only {sent} events")
        await self._send({"type": "http.response.body", "body": b"", "more_body": False})

    @staticmethod
    async def _pause(event: dict[str, Any] | Pause) -> None:
        if isinstance(event, Pause):
            await (event.gate.passed() if event.gate else asyncio.sleep(event.seconds))

    async def _start(self, status: int, content_type: str, headers: Mapping[str, str]) -> None:
        fields = {"content-type": content_type, "request-id": self._request_id, **headers}
        encoded = [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in fields.items()]
        await self._send({"type": "http.response.start", "status": status, "headers": encoded})

    async def _json(self, status: int, body: Mapping[str, Any], headers: Mapping[str, str] | None = None) -> None:
        payload = json.dumps(body).encode()
        await self._start(status, "application/json", {"content-length": str(len(payload)), **(headers or {})})
        await self._send({"type": "http.response.body", "body": payload, "more_body": False})

    async def _reset(self) -> None:
        if self._transport is None:
            raise ValueError("the connection is gone already")
        # What was sent should reach the client, so only an empty buffer may be cut.
        while self._transport.get_write_buffer_size() and not self._transport.is_closing():
            await asyncio.sleep(0)
        # Linger for zero seconds makes the kernel send RST where close() would send FIN.
        lingering = struct.pack("ii", 1, 0)
        self._transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, lingering)
        self._transport.abort()


def model_list() -> dict[str, Any]:
    """Answer `GET /v1/models`."""
    models = [
        {"type": "model", "id": name, "display_name": name, "created_at": "2026-01-01T00:00:00Z"} for name in MODELS
    ]
    return {"data": models, "has_more": False, "first_id": MODELS[0], "last_id": MODELS[-1]}
