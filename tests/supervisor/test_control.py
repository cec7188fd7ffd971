"""The control socket: what is asked wrongly gets an answer or a closed connection, and everything goes on."""

import asyncio
import json
import stat
import uuid
from pathlib import Path
from typing import Any

import pytest

from parachute.base.errors import Unavailable
from parachute.config.settings.home import Home
from parachute.supervisor import control
from tests.supervisor.launching import Launcher, launcher
from tests.support.errors import raises

pytestmark = pytest.mark.process


async def raw(units: Launcher, sent: bytes, *, end: bool = False) -> bytes:
    """The first line that is answered to raw bytes; nothing if the connection is closed or reset."""
    reader, writer = await asyncio.open_unix_connection(units.home.control_socket)
    try:
        writer.write(sent)
        if end:
            writer.write_eof()
        return await asyncio.wait_for(reader.readline(), 60)
    except ConnectionError:
        return b""  # closed with something unread in it, a connection is reset
    finally:
        writer.close()


@pytest.mark.parametrize(
    ("request_", "said"),
    [
        ({"operation": "explode"}, "expected one of status,"),
        ({}, "expected one of"),
        ({"operation": ["open"]}, "expected one of"),
        ({"operation": "open"}, "not a unit"),
        ({"operation": "open", "unit": "core"}, "not a unit"),
        ({"operation": "open", "unit": "sandbox@../../etc"}, "not a unit"),
        ({"operation": "open", "unit": "sandbox@" + "A" * 36}, "not a unit"),
        ({"operation": "open", "unit": f"sandbox@{uuid.UUID(int=1)}\n"}, "not a unit"),
        ({"operation": "open", "unit": {"command": "/bin/sh"}}, "not a unit"),
        ({"operation": "open", "unit": "direct", "environment": {"LD_PRELOAD": "x"}}, "no settings named"),
        ({"operation": "close", "unit": "nothing"}, "not a unit"),
        ({"operation": "start"}, "not open"),
    ],
)
async def test_what_it_does_not_know_it_refuses(units: Launcher, request_: dict[str, Any], said: str) -> None:
    reply = json.loads(await raw(units, json.dumps(request_).encode() + b"\n"))
    assert reply["ok"] is False
    assert said in reply["message"]


async def test_garbage_harms_nobody(units: Launcher) -> None:
    for garbage in (b"{oops\n", b"[]\n", b"null\n", b"\xff\xfe\n", b"\n", b"[" * 60_000 + b"\n"):
        assert json.loads(await raw(units, garbage))["ok"] is False
    assert await raw(units, b"x" * (1 << 20) + b"\n") == b""
    assert await raw(units, b'{"operation": "stat', end=True) != b"{}"
    assert "units" in await units.ask("status")


async def test_a_connection_that_says_nothing_holds_nobody_up(units: Launcher) -> None:
    _, writer = await asyncio.open_unix_connection(units.home.control_socket)
    writer.write(b'{"operation": ')
    assert "units" in await units.ask("status")
    writer.close()


async def test_several_requests_on_one_connection(units: Launcher) -> None:
    reader, writer = await asyncio.open_unix_connection(units.home.control_socket)
    writer.write(b'{"operation": "status"}\n' * 3)
    for _ in range(3):
        assert json.loads(await reader.readline())["ok"] is True
    writer.close()


async def test_only_its_owner_may_ask(units: Launcher) -> None:
    assert stat.S_IMODE(units.home.control_socket.stat().st_mode) == 0o600
    assert stat.S_IMODE(units.home.run.stat().st_mode) == 0o700


async def test_without_a_supervisor_the_error_says_so() -> None:
    with launcher() as units:
        units.process.kill()
        units.process.wait()
        for home in (units.home, Home(units.folder / "elsewhere")):
            with pytest.raises(Unavailable) as refused:
                await control.ask(home, "status")
            assert refused.value.key == "not_running"


async def test_a_failure_inside_is_reported_to_the_caller(units: Launcher) -> None:
    with raises("supervisor_failed"):
        await units.ask("open_unit", unit={"name": "x"})
    assert "units" in await units.ask("status")


def test_an_end_with_a_caller_connected_is_quiet(short_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    async def handle(_: dict[str, Any]) -> dict[str, Any]:
        return {}

    async def serve_and_end() -> None:
        home = Home(short_path)
        home.control_socket.parent.mkdir(parents=True, exist_ok=True)
        server = await control.serve(home, handle)
        reader, writer = await asyncio.open_unix_connection(home.control_socket)
        writer.write(b"{}\n")
        assert json.loads(await reader.readline()) == {"ok": True}
        writer.close()
        server.close()

    asyncio.run(serve_and_end())
    assert caplog.records == []
