"""F1, F2, F7, S6: a stranger who opens connections, and says nothing or too much on them."""

import asyncio
import contextlib
import json
import shutil
import socket
import tempfile
from collections.abc import AsyncIterator
from pathlib import Path

import httpx2
import psutil
import pytest
from starlette.types import Receive, Scope, Send

from parachute.base.budget import Limits
from parachute.web.http.http_connection import ConnectionLimiter
from parachute.web.http.unix_server import UnixListener, UnixServer
from tests.support.computer import Computer
from tests.support.installation import PLAIN
from tests.support.making import Make

pytestmark = pytest.mark.process

FEW = 256
"""Descriptors of the server under attack."""


@pytest.fixture(scope="module")
def limited(make_shared_computer: Make[Computer]) -> Computer:
    """A computer whose server may have few descriptors, as on a machine with low limits."""
    computer = make_shared_computer()
    for process in computer.processes():
        process.rlimit(psutil.RLIMIT_NOFILE, (FEW, FEW))
    computer.kill_core()
    return computer


def connection(computer: Computer, text: bytes) -> socket.socket:
    """A connection on which this was sent."""
    opened = socket.create_connection(("127.0.0.1", computer.port), timeout=60)
    with contextlib.suppress(ConnectionError):
        opened.sendall(text)
    return opened


def answer(opened: socket.socket) -> bytes:
    """All that comes, until the other side ends the connection."""
    found = b""
    with contextlib.suppress(ConnectionError):
        while data := opened.recv(65536):
            found += data
    return found


@pytest.mark.long
def test_half_requests_do_not_stop_the_server(limited: Computer) -> None:
    core = limited.find_process("parachute.server").pid
    with contextlib.ExitStack() as stack:
        for _ in range(3 * FEW):
            with contextlib.suppress(OSError):
                stack.enter_context(connection(limited, b"GET /api/health HTTP/1.1\r\nhost: localhost\r\nx-a: "))
        with httpx2.Client(base_url=limited.url, timeout=60, **PLAIN) as client:
            assert client.get("/api/health").status_code == 200
            assert client.post("/api/panic").status_code == 200
            assert client.get("/api/panic").json()["panic"]
    assert limited.find_process("parachute.server").pid == core


@pytest.mark.long  # its real time is ten seconds
def test_the_header_has_its_time(limited: Computer) -> None:
    with connection(limited, b"GET /api/health HTTP/1.1\r\nhost: localhost\r\nx-a: ") as opened:
        assert answer(opened).startswith(b"HTTP/1.1 408 ")


@pytest.mark.parametrize(
    "header",
    [
        b"".join(b"x%06d: y\r\n" % number for number in range(200_000)),
        b"x: " + b"y" * 4_000_000,
        b"".join(b"x%03d: y\r\n" % number for number in range(101)) + b"\r\n",
        b"transfer-encoding: chunked\r\n\r\n1\r\na\r\n0\r\n" + b"x: y\r\n" * 200_000,
        b"transfer-encoding: chunked\r\n\r\n1;" + b"x" * 1_000_000,
    ],
    ids=["many", "long", "a hundred and one", "trailers", "extensions"],
)
def test_a_header_has_an_end(limited: Computer, header: bytes) -> None:
    with connection(limited, b"POST /api/panic HTTP/1.1\r\nhost: localhost\r\n" + header) as opened:
        assert answer(opened)[:13] in (b"HTTP/1.1 431 ", b"")  # what was sent meanwhile may have the answer lost
    core = limited.find_process("parachute.server")
    assert core.memory_info().rss < 300_000_000


def test_requests_do_not_pile_up_on_one_connection(limited: Computer) -> None:
    one = b"GET /api/chat HTTP/1.1\r\nhost: localhost\r\n\r\n"
    with connection(limited, one * 400) as opened:
        assert answer(opened).count(b"HTTP/1.1 200") < 400
    with connection(limited, b"GET /api/health HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n") as opened:
        assert answer(opened).startswith(b"HTTP/1.1 200 ")


def test_a_trailer_is_no_header(limited: Computer) -> None:
    """A reader of headers behind the body would take it for one, also for a key."""
    request = (
        b"POST /api/panic HTTP/1.1\r\nhost: localhost:%d\r\nconnection: close\r\ntransfer-encoding: chunked\r\n\r\n"
        b"1\r\n{\r\n0\r\nx-api-key: para_wrong\r\n\r\n" % limited.port
    )
    with connection(limited, request) as opened:
        assert answer(opened).startswith(b"HTTP/1.1 200 ")


class Folder:
    """A door with small limits, and what it opened."""

    def __init__(self, path: Path, limits: Limits) -> None:
        self.path = path
        self.go_on = asyncio.Event()
        self.waiting = asyncio.Semaphore(0)
        self.server = UnixServer(self, limits)
        self.listeners: list[UnixListener] = []

    async def open(self, name: str) -> str:
        self.listeners.append(await self.server.open(self.path / name, 0o600))
        return str(self.path / name)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        while (await receive()).get("more_body"):
            pass
        if scope["path"] == "/wait":
            self.waiting.release()
            await self.go_on.wait()
        body = json.dumps(scope["path"]).encode()
        headers = [(b"content-length", str(len(body)).encode())]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": body})


@contextlib.asynccontextmanager
async def opened_door(limits: Limits) -> AsyncIterator[Folder]:
    path = Path(tempfile.mkdtemp(prefix="pcd-", dir="/tmp"))
    made = Folder(path, limits)
    yield made
    for listener in made.listeners:
        listener.close()
    shutil.rmtree(path)


@pytest.fixture
async def door() -> AsyncIterator[Folder]:
    async with opened_door(Limits(connections=2, connections_of_all=3, part=1)) as made:
        yield made


async def test_a_header_that_does_not_end_is_answered_when_its_time_is_over() -> None:
    async with opened_door(Limits(connections=2, connections_of_all=3, part=1, header_seconds=0)) as door:
        reader, writer = await asyncio.open_unix_connection(await door.open("one"))
        writer.write(b"GET / HTTP/1.1\r\nhost: x\r\nx-a: ")
        assert (await reader.read()).startswith(b"HTTP/1.1 408 ")
        writer.close()


async def test_who_waits_for_an_answer_keeps_his_connection(door: Folder) -> None:
    socket_path = await door.open("one")
    waiting = [await asyncio.open_unix_connection(socket_path) for _ in range(2)]
    for _, writer in waiting:
        writer.write(b"GET /wait HTTP/1.1\r\nhost: x\r\n\r\n")
        await door.waiting.acquire()
    late, writer_of_late = await asyncio.open_unix_connection(socket_path)
    assert (await late.read()).startswith(b"HTTP/1.1 503 ")
    door.go_on.set()
    for reader, writer in waiting:
        assert (await reader.readuntil(b"\r\n")).startswith(b"HTTP/1.1 200 ")
        writer.close()
    writer_of_late.close()


async def test_who_says_nothing_makes_room(door: Folder) -> None:
    one, other = await door.open("one"), await door.open("two")
    silent = [await asyncio.open_unix_connection(path) for path in (one, one, other)]
    reader, writer = await asyncio.open_unix_connection(other)
    writer.write(b"GET / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n")
    assert (await reader.read()).startswith(b"HTTP/1.1 200 ")
    assert await silent[0][0].read() == b""  # of all, the one that has waited longest
    for _, each in [*silent, (reader, writer)]:
        each.close()


async def test_the_network_has_its_share_and_this_machine_the_rest() -> None:
    door = ConnectionLimiter(Limits(connections=2, connections_of_all=6, reserved=2, part=1))
    budget = door.budget
    assert [budget.connect("a") for _ in range(3)] == [True, True, False]
    assert [budget.connect("b") for _ in range(3)] == [True, True, False]
    assert not budget.connect("c")
    assert [budget.connect("here", trusted=True) for _ in range(3)] == [True, True, False]
    budget.disconnect("a")
    assert budget.connect("here", trusted=True)


async def test_bytes_that_are_kept_are_counted() -> None:
    budget = ConnectionLimiter(Limits(connections=1, connections_of_all=1, bytes=10, bytes_of_all=15)).budget
    assert budget.hold("a", 10)
    assert not budget.hold("a", 1)
    assert not budget.hold("b", 6)
    budget.release("a", 10)
    assert budget.hold("b", 6)
