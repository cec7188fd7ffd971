"""HTTP to a module host's socket; a host that sleeps is started by the connection."""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import h11

from parachute.errors import InvalidInput, Unavailable

_CHUNK = 64 * 1024
_ANSWER_LIMIT = 16 * 1024 * 1024
_LATER = 5.0
_STATUSES = range(200, 600)

Headers = Sequence[tuple[bytes, bytes]]


class HostDown(Unavailable):
    """The module's process does not answer, or broke off."""

    status = 502
    key = "module_down"


@dataclass(slots=True)
class HostResponse:
    """The beginning of a host's answer; `body` streams the rest and has to be read or closed."""

    status: int
    headers: Headers
    body: AsyncIterator[bytes]


class HostClient:
    """Talks to one host, one request a connection: a kept connection could meet a host that is just falling asleep."""

    def __init__(self, name: str, socket: Path, log: Path) -> None:
        self._name = name
        self._socket = socket
        self._log = log
        self._answering: set[asyncio.StreamWriter] = set()

    def end_answers(self) -> None:
        """Break off answers that have begun: a stream without an end would hold up the end of the host."""
        for writer in self._answering:
            writer.transport.abort()

    @contextlib.asynccontextmanager
    async def request(
        self,
        method: str,
        target: str,
        headers: Headers = (),
        body: AsyncIterator[bytes] | None = None,
        seconds: float = 60,
    ) -> AsyncIterator[HostResponse]:
        """Send a request and give its answer; `seconds` bounds the wait for its beginning, and
        for each part of the body before that. Errors: HostDown, InvalidInput for what HTTP cannot say."""
        connection = h11.Connection(h11.CLIENT)
        fields = [(b"host", b"module"), (b"connection", b"close"), *headers]
        if body is not None:
            fields.append((b"transfer-encoding", b"chunked"))
        try:
            head = connection.send(h11.Request(method=method, target=target, headers=fields)) or b""
        except (h11.LocalProtocolError, UnicodeEncodeError) as error:
            # Our own server lets some characters pass that HTTP does not have.
            raise InvalidInput(f"The request cannot be passed on: {error}.", status=400) from error
        try:
            reader, writer = await asyncio.wait_for(asyncio.open_unix_connection(self._socket), seconds)
        except (OSError, TimeoutError) as error:
            raise self._down("does not answer") from error
        sending: asyncio.Task[None] | None = None
        limit = asyncio.timeout(seconds)

        def moved() -> None:
            # A long body may take its time, as long as it goes on.
            with contextlib.suppress(RuntimeError):  # the answer has begun already
                limit.reschedule(asyncio.get_running_loop().time() + seconds)

        try:
            writer.write(head)
            if body is None:
                writer.write(connection.send(h11.EndOfMessage()) or b"")
            else:
                sending = asyncio.create_task(_send(connection, writer, body, moved))
            async with limit:
                event = await self._next(connection, reader)
            if not isinstance(event, h11.Response) or event.status_code not in _STATUSES:
                raise self._down("gave no answer")
            kept = [(name, value) for name, value in event.headers if name not in _HOP_BY_HOP]
            self._answering.add(writer)
            yield HostResponse(event.status_code, kept, self._body(connection, reader))
        except TimeoutError as error:
            raise self._down(f"did not answer within {seconds:.0f} seconds") from error
        except (ConnectionError, h11.RemoteProtocolError) as error:
            raise self._down("broke off its answer") from error
        finally:
            if sending:
                sending.cancel()
                with contextlib.suppress(asyncio.CancelledError, ConnectionError):
                    await sending
            self._answering.discard(writer)
            writer.close()

    async def ask(self, method: str, target: str, value: Any = None, seconds: float = 60) -> tuple[int, Any]:
        """Send JSON and give back (status, JSON), all within `seconds`; error: HostDown, also for what is not JSON."""

        async def once() -> AsyncIterator[bytes]:
            yield json.dumps(value).encode()

        headers = [(b"content-type", b"application/json")] if value is not None else []
        body = once() if value is not None else None
        parts = bytearray()
        try:
            # The whole answer: a module that stops in the middle of one must hold up nobody. The wait for its beginning
            # ends later by itself, since of two that end at once one could be missed.
            async with (
                asyncio.timeout(seconds),
                self.request(method, target, headers, body, seconds + _LATER) as response,
            ):
                async for part in response.body:
                    parts += part
                    if len(parts) > _ANSWER_LIMIT:
                        raise self._down("gave too long an answer")
        except TimeoutError as error:
            raise self._down(f"did not answer within {seconds:.0f} seconds") from error
        try:
            return response.status, json.loads(parts or b"null")
        except (ValueError, RecursionError) as error:
            raise self._down("gave an answer that is not JSON") from error

    async def _body(self, connection: h11.Connection, reader: asyncio.StreamReader) -> AsyncIterator[bytes]:
        while True:
            event = await self._next(connection, reader)
            if isinstance(event, h11.Data):
                yield bytes(event.data)
            elif isinstance(event, h11.EndOfMessage | h11.ConnectionClosed):
                return

    async def _next(self, connection: h11.Connection, reader: asyncio.StreamReader) -> Any:
        while True:
            event = connection.next_event()
            if event is h11.NEED_DATA:
                connection.receive_data(await reader.read(_CHUNK))
            elif not isinstance(event, h11.InformationalResponse):
                return event

    def _down(self, what: str) -> HostDown:
        return HostDown(f"The module {self._name} {what}.", f"Its log is {self._log}.")


_HOP_BY_HOP = frozenset({b"connection", b"keep-alive", b"transfer-encoding", b"te", b"trailer", b"upgrade", b"server"})


async def _send(
    connection: h11.Connection, writer: asyncio.StreamWriter, body: AsyncIterator[bytes], moved: Callable[[], None]
) -> None:
    async for part in body:
        moved()
        if part:
            writer.write(connection.send(h11.Data(data=part)) or b"")
            await writer.drain()
    writer.write(connection.send(h11.EndOfMessage()) or b"")
    await writer.drain()
