"""Asking a host that does not do what it should: always an error that names it, and soon."""

import asyncio
import contextlib
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest

from parachute.modules.runtime.client import HostClient
from tests.support.errors import raises

pytestmark = pytest.mark.long

Script = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]
LOG = Path("/logs/module-odd.log")
OK = b"HTTP/1.1 200 OK\r\nconnection: close\r\n"


@contextlib.asynccontextmanager
async def answering(script: Script) -> AsyncIterator[HostClient]:
    """A host that answers each connection by the script."""
    with tempfile.TemporaryDirectory(prefix="hc-", dir="/tmp") as folder:
        path = Path(folder) / "host.sock"
        tasks: set[asyncio.Task[None]] = set()

        async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            task = asyncio.current_task()
            assert task
            tasks.add(task)
            try:
                with contextlib.suppress(ConnectionError):
                    await script(reader, writer)
            finally:
                writer.close()
                with contextlib.suppress(ConnectionError):
                    await writer.wait_closed()

        server = await asyncio.start_unix_server(connected, path)
        try:
            yield HostClient("odd", path, LOG)
        finally:
            server.close()
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)


def saying(*parts: bytes) -> Script:
    """A host that reads the head of a request, says this and closes."""

    async def script(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        for part in parts:
            writer.write(part)
            await writer.drain()

    return script


def stalling(*parts: bytes) -> Script:
    """The same, but it never closes."""

    async def script(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await saying(*parts)(reader, writer)
        await asyncio.Event().wait()

    return script


async def endless(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Headers that never end."""
    writer.write(OK)
    while True:
        writer.write(b"x-more: more\r\n" * 1000)
        await writer.drain()


async def trickling(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """An answer whose beginning never ends, a byte at a time."""
    writer.write(OK)
    while True:
        writer.write(b"x: y\r\n")
        await writer.drain()
        await asyncio.sleep(0.02)


async def endless_body(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """A body that never ends."""
    writer.write(OK + b"\r\n")
    while True:
        writer.write(b"[" * 100_000)
        await writer.drain()


@pytest.mark.parametrize(
    ("script", "problem"),
    [
        pytest.param(stalling(), "did not answer", id="silence"),
        pytest.param(stalling(b"HTTP/1.1 200"), "did not answer", id="half a line"),
        pytest.param(stalling(b"HTTP/1.1 100 Continue\r\n\r\n"), "did not answer", id="only interim"),
        pytest.param(trickling, "did not answer|broke off", id="a header at a time"),
        pytest.param(endless, "broke off", id="endless headers"),
        pytest.param(saying(), "broke off|gave no answer", id="closes at once"),
        pytest.param(saying(b"\0\xff garbage\r\n\r\n"), "broke off", id="garbage"),
        pytest.param(saying(b"SSH-2.0-OpenSSH\r\n"), "broke off", id="another protocol"),
        pytest.param(saying(OK + b"content-length: 10\r\n\r\n[1,"), "broke off", id="half an answer"),
        pytest.param(saying(OK + b"transfer-encoding: chunked\r\n\r\n5\r\n[1"), "broke off", id="half a chunk"),
        pytest.param(saying(OK + b"content-length: -1\r\n\r\n"), "broke off", id="a length that cannot be"),
        pytest.param(saying(OK + b"content-length: 3\r\ncontent-length: 4\r\n\r\n[1]"), "broke off", id="two lengths"),
        pytest.param(saying(OK + b"\r\nnot json"), "not JSON", id="no JSON"),
        pytest.param(saying(OK + b"\r\n" + b"[" * 100_000), "not JSON", id="deep JSON"),
        pytest.param(saying(OK + b"\r\n\xff\xfe\xfd"), "not JSON", id="no text"),
        pytest.param(endless_body, "too long", id="endless body"),
        pytest.param(stalling(OK + b"\r\n[1,"), "did not answer", id="stalls within the body"),
        pytest.param(stalling(OK + b"content-length: 10\r\n\r\n"), "did not answer", id="stalls before the body"),
        pytest.param(saying(b"HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\n\r\n"), "broke off", id="switches"),
        pytest.param(saying(b"HTTP/1.1 999 Odd\r\n\r\n[]"), "broke off|gave", id="a status that cannot be"),
    ],
)
async def test_a_host_that_answers_wrongly_is_down(script: Script, problem: str) -> None:
    # Only where the time itself is what ends it, there is little of it.
    seconds = 0.5 if "did not answer" in problem else 60
    async with answering(script) as client, asyncio.timeout(120):
        with raises("module_down", names=problem) as caught:
            await client.ask("POST", "/_parachute/event", {"id": "1"}, seconds=seconds)
    assert "odd" in caught.value.message
    assert str(LOG) in str(caught.value)


async def test_a_socket_that_nobody_listens_on_is_a_host_that_is_down(tmp_path: Path) -> None:
    with raises("module_down"):
        await HostClient("odd", tmp_path / "no.sock", LOG).ask("GET", "/")


async def test_an_answer_before_the_body_was_sent_counts() -> None:
    async def endless_upload() -> AsyncIterator[bytes]:
        while True:
            yield b"x" * 65536
            await asyncio.sleep(0)

    refusal = b"HTTP/1.1 413 Too Large\r\nconnection: close\r\ncontent-length: 2\r\n\r\n{}"
    async with (
        asyncio.timeout(60),
        answering(saying(refusal)) as client,
        client.request("POST", "/upload", (), endless_upload(), seconds=60) as answer,
    ):
        assert answer.status == 413
        assert [part async for part in answer.body] == [b"{}"]


async def test_a_host_that_takes_no_body_is_down() -> None:
    async def endless_upload() -> AsyncIterator[bytes]:
        while True:
            yield b"x" * 65536

    async with answering(stalling()) as client, asyncio.timeout(60):
        with raises("module_down"):
            async with client.request("POST", "/upload", (), endless_upload(), seconds=0.5):
                pass


async def test_a_slow_upload_takes_its_time_as_long_as_it_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    loop = asyncio.get_running_loop()
    passed, clock = 0.0, loop.time
    monkeypatch.setattr(loop, "time", lambda: clock() + passed)

    async def slow_upload() -> AsyncIterator[bytes]:
        nonlocal passed
        for _ in range(6):
            passed += 1000
            await asyncio.sleep(0)  # whoever waited less than that is told now
            yield b"x"

    async def script(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"0\r\n\r\n")
        writer.write(OK + b"\r\n[]")

    async with (
        answering(script) as client,
        client.request("POST", "/upload", (), slow_upload(), seconds=1500) as answer,
    ):
        assert [part async for part in answer.body] == [b"[]"]


async def test_leaving_an_answer_closes_the_connection() -> None:
    closed = asyncio.Event()

    async def script(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await saying(OK + b"\r\n", b"first")(reader, writer)
        await reader.read()
        closed.set()

    async with answering(script) as client, asyncio.timeout(60):
        async with client.request("GET", "/stream") as answer:
            assert await anext(answer.body) == b"first"
        await closed.wait()


@pytest.mark.parametrize(
    ("target", "headers"),
    [("/a b", ()), ("/a\r\nx: y", ()), ("/\xe9", ()), ("/", [(b"accept", b"a\r\nx: y")]), ("/", [(b"a b", b"c")])],
)
async def test_what_http_cannot_say_is_not_sent(target: str, headers: list[tuple[bytes, bytes]]) -> None:
    async with answering(saying(OK + b"\r\n[]")) as client:
        with raises("not_passed_on"):
            async with client.request("GET", target, headers):
                pass
