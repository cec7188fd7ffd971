"""HTTP/1.1 to another process of this computer, one request a connection.

A kept connection could meet a process that is just falling asleep or restarting, and would lose the request.
"""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path
from typing import Any

import h11
from msgspec import Struct

_CHUNK = 64 * 1024

Address = Path | tuple[str, int]
"""A Unix socket, or host and port."""

Headers = Sequence[tuple[bytes, bytes]]


class CannotBeSent(ValueError):
    """The request has characters that HTTP does not have."""


class Unreachable(ConnectionError):
    """Nobody accepts a connection."""


class BrokenOff(ConnectionError):
    """The answer ended before its time, or is not HTTP."""


class TooLong(ValueError):
    """The answer is larger than the caller takes."""


class NotJson(ValueError):
    """The answer is not JSON."""


class Response(Struct, eq=False):
    """The beginning of an answer; `body` streams the rest and raises BrokenOff."""

    status: int
    headers: Headers
    body: AsyncIterator[bytes]
    _writer: asyncio.StreamWriter

    async def read(self, limit: int) -> bytes:
        """Return the whole body; errors: TooLong, BrokenOff."""
        data = bytearray()
        async for part in self.body:
            data += part
            if len(data) > limit:
                raise TooLong(f"the answer is larger than {limit:,} bytes")
        return bytes(data)

    def abort(self) -> None:
        """Break the answer off."""
        self._writer.transport.abort()


@contextlib.asynccontextmanager
async def request(
    address: Address,
    method: str,
    target: str | bytes,
    headers: Headers,
    body: bytes | AsyncIterator[bytes] = b"",
    *,
    connect_seconds: float | None = None,
    seconds: float | None = None,
) -> AsyncIterator[Response]:
    """Send a request and give its answer; leaving the context closes the connection.

    `seconds` bounds the wait for the answer's beginning, and for each part of the body before that.
    Errors: CannotBeSent, Unreachable, BrokenOff, TimeoutError.
    """
    connection = h11.Connection(h11.CLIENT)
    fields = [*headers, (b"connection", b"close")]
    if not isinstance(body, bytes):
        fields.append((b"transfer-encoding", b"chunked"))
    elif body:
        fields.append((b"content-length", str(len(body)).encode()))
    try:
        head = connection.send(h11.Request(method=method, target=target, headers=fields)) or b""
    except (h11.LocalProtocolError, UnicodeEncodeError) as error:
        raise CannotBeSent(str(error)) from error
    reader, writer = await _connect(address, connect_seconds)
    limit = asyncio.timeout(seconds)

    def moved() -> None:
        # A long body may take its time, as long as it goes on.
        if seconds is not None:
            with contextlib.suppress(RuntimeError):  # the answer has begun already
                limit.reschedule(asyncio.get_running_loop().time() + seconds)

    sending: asyncio.Task[None] | None = None
    try:
        if isinstance(body, bytes):
            # At once: the other side may close the connection as soon as it has read the first of two.
            rest = (connection.send(event) or b"" for event in (h11.Data(data=body), h11.EndOfMessage()))
            writer.write(b"".join((head, *rest)))
        else:
            writer.write(head)
            # The other side may answer before it has the whole body.
            sending = asyncio.create_task(_send(connection, writer, body, moved))
        async with limit:
            start = await _next(connection, reader)
        if not isinstance(start, h11.Response):
            raise BrokenOff("it was closed before the answer")
        yield Response(start.status_code, list(start.headers), _body(connection, reader), writer)
    finally:
        if sending:
            sending.cancel()
            with contextlib.suppress(asyncio.CancelledError, ConnectionError):
                await sending
        writer.close()


async def ask(asking: contextlib.AbstractAsyncContextManager[Response], seconds: float, limit: int) -> tuple[int, Any]:
    """Return the status and the JSON of a request, its whole answer within `seconds`: one that stops in the middle holds up nobody.

    Errors: those of the request, TimeoutError, TooLong, NotJson.
    """
    async with asyncio.timeout(seconds), asking as response:
        return response.status, json_of(await response.read(limit))


def json_of(data: bytes) -> Any:
    """Return the value that JSON says, None for nothing; error: NotJson."""
    try:
        return json.loads(data or b"null")
    except (ValueError, RecursionError) as error:
        raise NotJson(str(error)) from error


async def _connect(address: Address, seconds: float | None) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    try:
        async with asyncio.timeout(seconds):
            if isinstance(address, Path):
                return await asyncio.open_unix_connection(address)
            return await asyncio.open_connection(*address)
    except OSError as error:  # a TimeoutError is one
        raise Unreachable(str(error)) from error


async def _send(
    connection: h11.Connection, writer: asyncio.StreamWriter, body: AsyncIterator[bytes], moved: Callable[[], None]
) -> None:
    try:
        async for part in body:
            moved()
            if part:
                writer.write(connection.send(h11.Data(data=part)) or b"")
                await writer.drain()
        writer.write(connection.send(h11.EndOfMessage()) or b"")
        await writer.drain()
    except Exception:
        # The other side would wait for the rest of the body, and we for its answer.
        writer.transport.abort()
        raise


async def _body(connection: h11.Connection, reader: asyncio.StreamReader) -> AsyncIterator[bytes]:
    while isinstance(event := await _next(connection, reader), h11.Data):
        yield bytes(event.data)
    if not isinstance(event, h11.EndOfMessage):
        raise BrokenOff("it was closed within the answer")


async def _next(connection: h11.Connection, reader: asyncio.StreamReader) -> Any:
    try:
        while True:
            event = connection.next_event()
            if event is h11.NEED_DATA:
                connection.receive_data(await reader.read(_CHUNK))
            elif not isinstance(event, h11.InformationalResponse):
                return event
    except (OSError, h11.RemoteProtocolError) as error:
        raise BrokenOff(str(error)) from error
