"""`/supervisor/*` on its own port: who may ask for what, and what it answers when core is down."""

import asyncio
import contextlib
import json
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from parachute.base.budget import SUPERVISOR, Limits
from parachute.base.errors import Unavailable
from parachute.config.settings.home import Home
from parachute.security.keys.models import Scope
from parachute.security.keys.service import Keys
from parachute.supervisor.web import SupervisorWeb
from tests.support.connections import read_to_end

pytestmark = pytest.mark.process


@dataclass
class Supervised:
    """Supervisor as the web side needs it: a summary, and operations, which are noted."""

    port: int = 0
    running: bool = True
    asked: list[str] = field(default_factory=list)
    problem: Exception | None = None

    def summary(self) -> dict[str, Any]:
        """As the supervisor's."""
        return {"main_server_healthy": self.running, "main_server_host": "0.0.0.0", "main_server_port": self.port}

    async def handle(self, request: dict[str, Any]) -> dict[str, Any]:
        """As the supervisor's."""
        if self.problem:
            raise self.problem
        self.asked.append(request["operation"])
        return {}


@dataclass
class Web:
    """The served port."""

    supervised: Supervised
    port: int
    admin: str
    reader: str

    async def send(self, data: bytes, *, end: bool = False) -> tuple[int, dict[str, Any]]:
        """Raw bytes; the status and the JSON of the answer, or (0, {}) if there is none."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        writer.write(data)
        if end:
            writer.write_eof()
        answer = await read_to_end(reader)
        writer.close()
        if not answer:
            return 0, {}
        head, _, body = answer.partition(b"\r\n\r\n")
        return int(head.split()[1]), json.loads(body)

    async def ask(self, method: str, path: str, **headers: str) -> tuple[int, dict[str, Any]]:
        """One request."""
        given = {"host": f"localhost:{self.port}", **{name.replace("_", "-"): text for name, text in headers.items()}}
        lines = [f"{method} {path} HTTP/1.1", *(f"{name}: {text}" for name, text in given.items()), "", ""]
        return await self.send("\r\n".join(lines).encode())


@contextlib.asynccontextmanager
async def serving(folder: Path, limits: Limits = SUPERVISOR) -> AsyncIterator[Web]:
    """A served port with two keys."""
    keys = Keys(folder)
    _, admin = keys.create("admin")
    _, reader = keys.create("reader", [Scope("*", frozenset({"read", "write"}))])
    supervised = Supervised()
    server = await SupervisorWeb(Home(folder), supervised, limits).serve(0)  # type: ignore[arg-type]
    yield Web(supervised, server.sockets[0].getsockname()[1], admin, reader)
    server.close()
    await server.wait_closed()
    keys.close()


@pytest.fixture
async def web(tmp_path: Path) -> AsyncIterator[Web]:
    """A served port."""
    async with serving(tmp_path) as served:
        yield served


@contextlib.asynccontextmanager
async def main_server(
    web: Web, answer: Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]
) -> AsyncIterator[None]:
    """A server that answers as the main one, on a port that is free."""

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.closing(writer):
            await answer(reader, writer)

    async with await asyncio.start_server(connected, "127.0.0.1", 0) as server:
        web.supervised.port = server.sockets[0].getsockname()[1]
        yield


async def test_the_status_is_open_to_this_machine(web: Web) -> None:
    status, answer = await web.ask("GET", "/supervisor/status")
    assert (status, answer["main_server_healthy"]) == (200, True)
    assert (await web.ask("GET", "/supervisor/status?x=1", host=f"127.0.0.1:{web.port}"))[0] == 200


async def test_no_more_connections_are_held_than_the_budget_has(tmp_path: Path) -> None:
    limits = Limits(connections=3, connections_of_all=4, reserved=1)
    async with serving(tmp_path, limits) as web:
        silent = []
        # One after the other: those that say nothing have ten seconds, and a slow machine counts them late.
        while (await web.ask("GET", "/supervisor/status"))[0]:
            silent.append(await asyncio.open_connection("127.0.0.1", web.port))
        assert len(silent) >= limits.connections_of_all
        for _, writer in silent:
            writer.close()
        while not (await web.ask("GET", "/supervisor/status"))[0]:
            pass


async def test_other_names_and_web_pages_are_refused(web: Web) -> None:
    for host in ("evil.example", f"evil.example:{web.port}", "localhost", f"localhost:{web.port}.evil.example", ""):
        assert (await web.ask("GET", "/supervisor/status", host=host))[0] == 403, host
    for headers in ({"origin": "https://evil.example"}, {"origin": "null"}, {"sec_fetch_site": "cross-site"}):
        assert (await web.ask("GET", "/supervisor/status", **headers))[0] == 403, headers
        assert (await web.ask("POST", "/supervisor/server/stop", x_api_key=web.admin, **headers))[0] == 403, headers
    assert web.supervised.asked == []


async def test_control_needs_a_key_with_admin_rights_or_a_program_of_the_owner(web: Web) -> None:
    mozilla = {"user_agent": "Mozilla/5.0"}
    for headers in ({"x_api_key": "wrong"}, {"authorization": f"Bearer {web.reader}"}, mozilla, {"cookie": "a=b"}):
        assert (await web.ask("POST", "/supervisor/server/stop", **headers))[0] == 401, headers
    assert web.supervised.asked == []
    for operation, headers in (
        ("stop", {"x_api_key": web.admin}),
        ("start", {"authorization": f"Bearer {web.admin}"}),
        ("restart", {"x_api_key": web.admin}),
        # The app's buttons send no key.
        ("start", {"content_type": "application/json"}),
    ):
        assert (await web.ask("POST", f"/supervisor/server/{operation}", **headers))[0] == 200
    assert web.supervised.asked == ["stop", "start", "restart", "start"]


async def test_other_methods_and_paths(web: Web) -> None:
    assert (await web.ask("GET", "/supervisor/server/stop", x_api_key=web.admin))[0] == 405
    for path in ("/", "/stop", "/supervisor/server/", "/supervisor/server/shutdown", "/supervisor/server/stop/x", "*"):
        assert (await web.ask("POST", path, x_api_key=web.admin))[0] == 404, path
    assert web.supervised.asked == []


async def test_a_failure_of_the_supervisor_is_told(web: Web) -> None:
    web.supervised.problem = Unavailable("core ended with status 1.")
    status, answer = await web.ask("POST", "/supervisor/server/start", x_api_key=web.admin)
    assert (status, answer["detail"]) == (503, "core ended with status 1.")


async def test_what_is_no_http_gets_a_4xx_or_nothing(web: Web) -> None:
    for data in (
        b"\0\1\2\r\n\r\n",
        b"GET /supervisor/status\r\n\r\n",
        b"GET /supervisor/status HTTP/1.1\r\n\r\n",
        b"GET / HTTP/1.1\r\nhost: a\r\nhost: b\r\n\r\n",
        b"POST / HTTP/1.1\r\nhost: a\r\ncontent-length: -1\r\n\r\n",
        b"GET /" + b"x" * 100_000 + b" HTTP/1.1\r\n\r\n",
        f"POST / HTTP/1.1\r\nhost: localhost:{web.port}\r\ncontent-length: 70000\r\n\r\n".encode() + b"x" * 70_000,
    ):
        status, answer = await web.send(data)
        assert status == 0 or (400 <= status < 500 and isinstance(answer["detail"], str)), data[:50]
    assert (await web.send(b"GET / HT", end=True))[0] in (0, 400)
    assert (await web.ask("GET", "/supervisor/status"))[0] == 200


async def test_the_models_come_from_core_with_the_callers_key(web: Web) -> None:
    received = b""

    async def core(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal received
        received = await reader.readuntil(b"\r\n\r\n")
        writer.write(b'HTTP/1.1 200 OK\r\ncontent-length: 14\r\n\r\n{"models": []}')
        writer.close()

    async with main_server(web, core):
        assert await web.ask("GET", "/supervisor/models?show_all=1", x_api_key=web.reader) == (200, {"models": []})
    assert received.startswith(b"GET /supervisor/models?show_all=1 HTTP/1.1\r\n")
    assert f"x-api-key: {web.reader}\r\n".encode() in received


async def test_models_when_core_does_not_answer(web: Web) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        web.supervised.port = unused.getsockname()[1]
        assert (await web.ask("GET", "/supervisor/models"))[0] == 502

    async def core(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nshort")
        writer.close()

    async with main_server(web, core):
        assert (await web.ask("GET", "/supervisor/models"))[0] == 502

    async def talkative(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b'HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n{"models": "%s"}' % (b"x" * 2_000_000))
        writer.close()

    async with main_server(web, talkative):
        assert (await web.ask("GET", "/supervisor/models"))[0] == 502
    web.supervised.running = False
    assert (await web.ask("GET", "/supervisor/models"))[0] == 503
