"""HTTP/1.1 to another process of this computer, one request a connection.

A kept connection could meet a process that is just falling asleep or restarting, and would lose the request.

Bytes go through the socket itself: a stream of asyncio drops what it has received when it cannot write any more, and the other
side may have answered, and closed, before it had the whole request.
"""

import asyncio
import contextlib
import json
import socket
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
    _socket: socket.socket

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
        _shut(self._socket)


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
    connected = await _connect(address, connect_seconds)
    limit = asyncio.timeout(seconds)

    def moved() -> None:
        # A long body may take its time, as long as it goes on.
        if seconds is not None:
            with contextlib.suppress(RuntimeError):  # the answer has begun already
                limit.reschedule(asyncio.get_running_loop().time() + seconds)

    sending: asyncio.Task[Any] | None = None
    try:
        if isinstance(body, bytes):
            rest = (connection.send(event) or b"" for event in (h11.Data(data=body), h11.EndOfMessage()))
            if left := _send_some(connected, b"".join((head, *rest))):
                sending = asyncio.create_task(_send_rest(connected, left))
        else:
            sending = asyncio.create_task(_send(connection, connected, head, body, moved))
        async with limit:
            start = await _next(connection, connected)
        if not isinstance(start, h11.Response):
            raise BrokenOff("it was closed before the answer")
        yield Response(start.status_code, list(start.headers), _body(connection, connected), connected)
    except BrokenOff:
        if sending and (of_body := _error_of(sending)):
            raise of_body from None
        raise
    finally:
        try:
            if sending:
                sending.cancel()
                # Not the task itself: a cancellation of ours that comes now is not its own.
                await asyncio.wait({sending})
                _error_of(sending)
        finally:
            connected.close()


def _error_of(sending: asyncio.Task[Any]) -> BaseException | None:
    """The error of a body that could not be sent to its end; one that nobody looks at would be logged."""
    return sending.exception() if sending.done() and not sending.cancelled() else None


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


async def _connect(address: Address, seconds: float | None) -> socket.socket:
    try:
        async with asyncio.timeout(seconds):
            if isinstance(address, Path):
                return await _connected(socket.AF_UNIX, str(address))
            found = await asyncio.get_running_loop().getaddrinfo(*address, type=socket.SOCK_STREAM)
            for family, _, _, _, place in found[:-1]:
                with contextlib.suppress(OSError):
                    return await _connected(family, place)
            return await _connected(found[-1][0], found[-1][4])
    except OSError as error:  # a TimeoutError is one
        raise Unreachable(str(error)) from error


async def _connected(family: int, place: Any) -> socket.socket:
    made = socket.socket(family, socket.SOCK_STREAM)
    try:
        made.setblocking(False)
        await asyncio.get_running_loop().sock_connect(made, place)
    except BaseException:
        made.close()
        raise
    return made


def _send_some(connected: socket.socket, data: bytes) -> bytes:
    """Send what goes at once, mostly all; the rest. What cannot be sent any more may be answered all the same."""
    try:
        return data[connected.send(data) :]
    except BlockingIOError:
        return data
    except OSError:
        return b""


async def _send_rest(connected: socket.socket, data: bytes) -> bool:
    """Send all of it; False if the other side takes no more."""
    try:
        await asyncio.get_running_loop().sock_sendall(connected, data)
    except OSError:
        return False
    return True


async def _send(
    connection: h11.Connection,
    connected: socket.socket,
    head: bytes,
    body: AsyncIterator[bytes],
    moved: Callable[[], None],
) -> None:
    try:
        goes = await _send_rest(connected, head)
        async for part in body:
            moved()
            if goes and part:
                goes = await _send_rest(connected, connection.send(h11.Data(data=part)) or b"")
            if not goes:
                return
        await _send_rest(connected, connection.send(h11.EndOfMessage()) or b"")
    except BaseException:
        # The other side would wait for the rest of the body, and we for its answer.
        _shut(connected)
        raise


def _shut(connected: socket.socket) -> None:
    with contextlib.suppress(OSError):
        connected.shutdown(socket.SHUT_RDWR)


async def _body(connection: h11.Connection, connected: socket.socket) -> AsyncIterator[bytes]:
    while isinstance(event := await _next(connection, connected), h11.Data):
        yield bytes(event.data)
    if not isinstance(event, h11.EndOfMessage):
        raise BrokenOff("it was closed within the answer")


async def _next(connection: h11.Connection, connected: socket.socket) -> Any:
    try:
        while True:
            event = connection.next_event()
            if event is h11.NEED_DATA:
                connection.receive_data(await asyncio.get_running_loop().sock_recv(connected, _CHUNK))
            elif not isinstance(event, h11.InformationalResponse):
                return event
    except (OSError, h11.RemoteProtocolError) as error:
        raise BrokenOff(str(error)) from error
