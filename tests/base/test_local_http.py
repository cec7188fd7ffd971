"""The client that the server, the supervisor and the module hosts share."""

import asyncio
import contextlib
import socket as sockets
import tempfile
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from pathlib import Path

import pytest

from parachute.base import local_http

pytestmark = pytest.mark.process

ANSWER = b"HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nfour"
HOST = [(b"host", b"other")]


@pytest.fixture
def socket() -> Iterator[Path]:
    """A path that is short enough for a socket."""
    with tempfile.TemporaryDirectory(prefix="lh-", dir="/tmp") as folder:
        yield Path(folder) / "s"


@contextlib.asynccontextmanager
async def answering(
    script: Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]], socket: Path | None = None
) -> AsyncIterator[local_http.Address]:
    """A server that answers each connection by the script and closes it, on a port where no socket is given."""
    tasks: list[asyncio.Task[None]] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await script(reader, writer)
        writer.close()
        with contextlib.suppress(ConnectionError):
            await writer.wait_closed()

    def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        tasks.append(asyncio.create_task(serve(reader, writer)))

    if socket:
        server = await asyncio.start_unix_server(connected, socket)
    else:
        server = await asyncio.start_server(connected, "127.0.0.1", 0)
    async with server:
        yield socket or server.sockets[0].getsockname()
        await asyncio.gather(*tasks)


async def test_each_request_has_a_connection_of_its_own(socket: Path) -> None:
    connections = 0

    async def script(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal connections
        connections += 1
        head = await reader.readuntil(b"\r\n\r\n")
        assert b"connection: close" in head.lower()
        writer.write(ANSWER)  # the server would keep the connection
        assert await reader.read() == b""

    async with answering(script, socket):
        for _ in range(3):
            async with local_http.request(socket, "GET", "/", HOST) as response:
                assert (response.status, await response.read(4)) == (200, b"four")
    assert connections == 3


async def test_a_body_of_bytes_says_its_length_and_a_streamed_one_is_chunked() -> None:
    received = []

    async def script(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        end = b"0\r\n\r\n" if b"chunked" in head else b"body"
        received.append((b"content-length: 4" in head, await reader.readuntil(end)))
        writer.write(ANSWER)

    async def parts() -> AsyncIterator[bytes]:
        yield b"bo"
        yield b"dy"

    async with answering(script) as address:
        for body in (b"body", parts()):
            async with local_http.request(address, "POST", "/", HOST, body) as response:
                assert response.status == 200
    assert received == [(True, b"body"), (False, b"2\r\nbo\r\n2\r\ndy\r\n0\r\n\r\n")]


@pytest.mark.parametrize(
    ("said", "problem"),
    [
        (ANSWER, local_http.TooLong),
        (ANSWER[:-1], local_http.BrokenOff),
        (b"", local_http.BrokenOff),
        (b"HTTP/1.1 200 OK\r\n" + b"x: y\r\n" * 10_000, local_http.BrokenOff),
        (b"no HTTP\r\n\r\n", local_http.BrokenOff),
    ],
)
async def test_a_wrong_answer_is_an_error(socket: Path, said: bytes, problem: type[Exception]) -> None:
    async def script(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(said)

    async with answering(script, socket):
        with pytest.raises(problem):
            async with local_http.request(socket, "GET", "/", HOST) as response:
                await response.read(3)


async def test_an_answer_before_the_end_of_the_body_is_read(socket: Path) -> None:
    closed = threading.Event()

    def answer() -> None:
        connection, _ = server.accept()
        with connection:
            connection.recv(1)
            connection.sendall(ANSWER)
        closed.set()

    async def parts() -> AsyncIterator[bytes]:
        yield b"x"
        # It holds the event loop up: what is written next meets the closed connection before the answer is read.
        closed.wait()
        for _ in range(3):
            yield b"y" * 1_000_000

    with sockets.socket(sockets.AF_UNIX) as server:
        server.bind(str(socket))
        server.listen()
        for body in (parts(), b"z" * 8_000_000):
            thread = threading.Thread(target=answer)
            thread.start()
            async with local_http.request(socket, "POST", "/", HOST, body) as response:
                assert (response.status, await response.read(4)) == (200, b"four")
            thread.join()
            closed.clear()


async def test_an_answer_that_is_broken_off_ends(socket: Path) -> None:
    async def script(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nfour")
        assert await reader.read() == b""

    async with answering(script, socket), local_http.request(socket, "GET", "/", HOST) as response:
        assert await anext(response.body) == b"four"
        waiting = asyncio.ensure_future(anext(response.body))
        await asyncio.sleep(0)
        response.abort()
        with pytest.raises(local_http.BrokenOff):
            await waiting


async def test_nobody_listens(socket: Path) -> None:
    with pytest.raises(local_http.Unreachable):
        async with local_http.request(socket, "GET", "/", HOST):
            pass


async def test_a_cancellation_while_the_body_ends_is_not_lost(socket: Path) -> None:
    ending, go_on = asyncio.Event(), asyncio.Event()

    async def body() -> AsyncIterator[bytes]:
        try:
            yield b"one"
            await asyncio.Event().wait()
        finally:
            ending.set()
            await go_on.wait()

    async def script(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(ANSWER)
        await writer.drain()

    async with answering(script, socket) as address:

        async def ask() -> None:
            async with local_http.request(address, "POST", "/", HOST, body()) as response:
                assert await response.read(10) == b"four"

        task = asyncio.create_task(ask())
        await ending.wait()
        task.cancel()
        await asyncio.sleep(0)
        go_on.set()
        with pytest.raises(asyncio.CancelledError):
            await task
