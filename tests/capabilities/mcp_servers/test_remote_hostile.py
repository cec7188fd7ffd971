"""Servers elsewhere that mean no good: each costs an error, and everybody else goes on."""

import asyncio
import codecs
import gzip
import json
from collections.abc import AsyncIterator
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from parachute.base.errors import ParachuteError, Unavailable
from parachute.capabilities.mcp_servers.session import QUIETLY
from tests.capabilities.mcp_servers.hostile_server import Answer, Asked, harmless, hostile_server
from tests.capabilities.mcp_servers.remote_servers import RemoteServers, remote_servers
from tests.support.clock import ManualClock
from tests.support.errors import raises

pytestmark = pytest.mark.process

EVENT = (
    b'event: message\ndata: {"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"x"}}\n\n'
)


@pytest.fixture
async def servers(tmp_path: Path) -> AsyncIterator[RemoteServers]:
    """The servers of an installation."""
    async with remote_servers(tmp_path) as made:
        yield made


async def much(asked: Asked) -> None:
    asked.writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 104857600\r\n\r\n")
    await asked.for_ever(b"[" * 65536)


async def endless(asked: Asked) -> None:
    await asked.begin("application/json")
    await asked.for_ever(b'"' + b"x" * 65535)


async def endless_events(asked: Asked) -> None:
    await asked.begin("text/event-stream")
    await asked.for_ever(EVENT * 100)


async def one_long_event(asked: Asked) -> None:
    await asked.begin("text/event-stream")
    asked.writer.write(b"event: message\ndata: ")
    await asked.for_ever(b"x" * 65536)


async def endless_header(asked: Asked) -> None:
    asked.writer.write(b"HTTP/1.1 200 OK\r\n")
    await asked.for_ever(b"x-more: " + b"y" * 8192 + b"\r\n")


async def compressed(asked: Asked) -> None:
    bomb = gzip.compress(b" " * (64 * 1024 * 1024), compresslevel=1)
    await asked.say(200, bomb, content_type="application/json", content_encoding="gzip")


async def no_json(asked: Asked) -> None:
    await asked.say(200, b"<html>", content_type="application/json")


async def no_message(asked: Asked) -> None:
    await asked.json({"jsonrpc": "1.0", "result": []})


async def nested(asked: Asked) -> None:
    await asked.say(200, b"[" * 100_000 + b"]" * 100_000, content_type="application/json")


async def nothing_known(asked: Asked) -> None:
    await asked.say(200, b"hello", content_type="text/plain")


async def no_http(asked: Asked) -> None:
    asked.writer.write(b"SSH-2.0-OpenSSH_9.2\r\n")
    asked.writer.close()


async def broken_off(asked: Asked) -> None:
    asked.writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 900\r\n\r\n{")
    asked.writer.close()


async def broken_events(asked: Asked) -> None:
    await asked.begin("text/event-stream")
    asked.writer.write(b'id: 1\nretry: 0\ndata: {"jsonrpc"\n\n')
    await asked.writer.drain()
    asked.writer.close()


async def again_and_again(asked: Asked) -> None:
    await asked.begin("text/event-stream")
    asked.writer.write(b"id: 1\nretry: 0\ndata:\n\n")
    await asked.writer.drain()
    asked.writer.close()


async def server_error(asked: Asked) -> None:
    await asked.say(500, b"x" * 10_000_000, content_type="application/json")


async def never_authorized(asked: Asked) -> None:
    await asked.say(401, www_authenticate='Bearer scope="' + "x" * 60_000 + '"')


CALLS: list[Answer] = [
    much,
    endless,
    endless_events,
    one_long_event,
    endless_header,
    compressed,
    no_json,
    no_message,
    nested,
    nothing_known,
    no_http,
    broken_off,
    broken_events,
    again_and_again,
    server_error,
    never_authorized,
]


@pytest.mark.parametrize(
    ("answer", "what"),
    [
        *((answer, "tools/call") for answer in CALLS),
        *(
            (answer, what)
            for answer in (endless, no_message, broken_off, server_error)
            for what in ("tools/list", "initialize")
        ),
    ],
)
async def test_an_answer_that_is_a_flood_or_nonsense(servers: RemoteServers, answer: Answer, what: str) -> None:
    async def hostile(asked: Asked) -> bool | None:
        # What reads a stream again comes with GET.
        return await answer(asked) if asked.what == what or asked.method == "GET" else False

    async with hostile_server(hostile) as bad, hostile_server(harmless) as good:
        servers.put("bad", bad.url)
        servers.put("good", good.url)
        asking = servers.service.offer("bad") if what == "tools/list" else servers.service.call("bad", "act", {})
        call = asyncio.create_task(asyncio.wait_for(asking, 60))
        assert await servers.service.call("good", "act", {}) == "done"
        with pytest.raises(ParachuteError) as failed:
            await call
        assert failed.value.status == 503
        assert len(str(failed.value)) < 1000
        assert len(bad.asked) < 50
        assert await servers.service.call("good", "act", {}) == "done"


async def test_a_call_that_hangs(servers: RemoteServers) -> None:
    async def hostile(asked: Asked) -> bool | None:
        if asked.what != "tools/call" or asked.message["params"]["arguments"]:  # type: ignore[index]
            return False
        await asyncio.Event().wait()
        return None

    async with hostile_server(hostile) as server:
        servers.put("slow", server.url)
        assert await servers.service.call("slow", "act", {"now": True}) == "done"
        with raises("too_slow"):
            await servers.clock.until_done(servers.service.call("slow", "act", {}))
        call = asyncio.create_task(servers.service.call("slow", "act", {}))
        assert await servers.service.call("slow", "act", {"now": True}) == "done"
        # Whoever stops everything does not wait for it.
        await asyncio.wait_for(servers.service.end_all(), 60)
        with pytest.raises(Unavailable):
            await call


async def test_a_hundred_hanging_calls_keep_no_other_server(servers: RemoteServers) -> None:
    async def hostile(asked: Asked) -> bool | None:
        if asked.what != "tools/call":
            return False
        await asyncio.Event().wait()
        return None

    async with hostile_server(hostile) as bad, hostile_server(harmless) as good:
        servers.put("bad", bad.url)
        servers.put("good", good.url)
        calls = [asyncio.create_task(servers.service.call("bad", "act", {})) for _ in range(100)]
        assert await servers.service.call("good", "act", {}) == "done"
        await servers.service.end_all()
        assert all(isinstance(each, Unavailable) for each in await asyncio.gather(*calls, return_exceptions=True))


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_a_redirect_leads_nowhere(servers: RemoteServers, status: int) -> None:
    async with hostile_server(harmless) as other:
        places = [
            other.url,
            "file:///etc/passwd",
            "http://169.254.169.254/latest",
            "http://192.168.0.1/",
            "//x.example.org/",
        ]

        async def hostile(asked: Asked) -> bool | None:
            if asked.what != "tools/call":
                return False
            await asked.say(status, location=places[0])
            return None

        async with hostile_server(hostile) as server:
            servers.put("bad", server.url, headers={"X-Key": "secret-header"})
            while places:
                with pytest.raises(Unavailable):
                    await servers.service.call("bad", "act", {})
                places.pop(0)
        assert other.asked == []


async def test_a_redirect_within_the_host_is_followed_for_a_while(servers: RemoteServers) -> None:
    async def hostile(asked: Asked) -> bool | None:
        if asked.what != "tools/call" or asked.path == "/mcp/":
            return False
        where = "/mcp/" if asked.message["params"]["arguments"] else asked.path  # type: ignore[index]
        await asked.say(307, location=where)
        return None

    async with hostile_server(hostile) as server:
        servers.put("moved", server.url)
        assert await servers.service.call("moved", "act", {"once": True}) == "done"
        with pytest.raises(Unavailable):
            await servers.service.call("moved", "act", {})
        assert len(server.asked) < 60


async def test_ten_thousand_tools_with_long_descriptions(servers: RemoteServers) -> None:
    async def many(asked: Asked) -> bool | None:
        if asked.what != "tools/list":
            return False
        await asked.result({"tools": [{"name": f"t{n}", "inputSchema": {"type": "object"}} for n in range(10_000)]})
        return None

    async def endless_pages(asked: Asked) -> bool | None:
        if asked.what != "tools/list":
            return False
        tool = {"name": f"t{len(server.asked)}", "description": "x" * 100_000, "inputSchema": {"type": "object"}}
        await asked.result({"tools": [tool], "nextCursor": "more"})
        return None

    for answer in (many, endless_pages):
        async with hostile_server(answer) as server:
            servers.put("many", server.url)
            tools = (await servers.service.offer("many")).tools
            assert 0 < len(tools) <= 200
            assert all(len(tool.description) <= 2_000 for tool in tools)
            assert len(server.asked) < 40


@pytest.mark.parametrize(
    "hostile",
    [
        {"name": "bare", "inputSchema": {"type": "object"}},
        {"name": "typed", "description": 7, "inputSchema": {"type": "object"}},
        {"name": "numbered", "inputSchema": {"properties": {"a": {"maximum": 12345678}}}},
        {"name": "patterned", "inputSchema": {"properties": {"a": {"pattern": "a{99999999999999}"}}}},
        {"name": "large", "inputSchema": {"properties": {"a": {"maximum": 10**30}}}},
        {"name": ["12345678"], "description": ["12345678"], "inputSchema": "12345678"},
        "no tool",
    ],
)
async def test_a_tool_that_is_not_as_it_should_be_costs_no_other_one(servers: RemoteServers, hostile: Any) -> None:
    async def lists(asked: Asked) -> bool | None:
        if asked.what != "tools/list":
            return False
        await asked.result({"tools": [hostile, {"name": "act", "inputSchema": {"type": "object"}}]})
        return None

    async with hostile_server(lists) as bad, hostile_server(harmless) as good:
        servers.put("bad", bad.url, headers={"X-Key": "12345678"})
        servers.put("good", good.url)
        tools, _ = await servers.service.offered("all", None)
        assert {(tool.server, tool.name) for tool in tools} >= {("bad", "act"), ("good", "act")}
        assert not any("12345678" in str((tool.description, tool.input_schema)) for tool in tools)


async def test_a_fault_that_nobody_thought_of_costs_the_tools_of_the_server(
    servers: RemoteServers, caplog: pytest.LogCaptureFixture
) -> None:
    class Broken(ManualClock):
        def now(self) -> datetime:
            raise ZeroDivisionError

    servers.clock = Broken()
    await servers.restart()
    async with hostile_server(harmless) as server:
        servers.put("bad", server.url)
        for _ in range(2):
            tools, warnings = await servers.service.offered("all", None)
            assert (tools, len(warnings)) == ((), 1)
            # It is not asked again for a while.
            assert [each.what for each in server.asked].count("tools/list") == 1
        with raises("asking_failed"):
            await servers.service.offer("bad")
    assert "ZeroDivisionError" in caplog.text


@pytest.mark.parametrize("address", ["127.0.0.1", "::1", "192.168.1.1", "169.254.169.254", "10.0.0.1", "0.0.0.0"])
async def test_a_name_of_the_internet_that_leads_home(tmp_path: Path, address: str) -> None:
    async def resolve(host: str, port: int) -> list[str]:
        return [address]

    async def connect(*_: object, **__: object) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        raise AssertionError("it was reached")

    async with remote_servers(tmp_path, resolve=resolve, connect=connect) as servers:
        servers.put("bad", "https://mcp.example.org/mcp")
        with raises("unreachable"):
            await servers.service.call("bad", "act", {})


async def test_a_name_at_home_does_not_lead_to_this_machine(tmp_path: Path) -> None:
    async def resolve(host: str, port: int) -> list[str]:
        return ["127.0.0.1"]

    async with remote_servers(tmp_path, resolve=resolve) as servers:
        servers.put("bad", "http://nas.local:3334/mcp")
        with raises("unreachable"):
            await servers.service.call("bad", "act", {})


async def test_the_older_transport_stays_at_its_address(servers: RemoteServers) -> None:
    async with hostile_server(harmless) as other:
        for where in (f"{other.origin}/messages", "http://169.254.169.254/", "file:///etc/passwd"):

            async def hostile(asked: Asked, where: str = where) -> None:
                await asked.begin("text/event-stream")
                asked.writer.write(f"event: endpoint\ndata: {where}\n\n".encode())
                await asked.writer.drain()
                await asyncio.Event().wait()

            async with hostile_server(hostile) as server:
                servers.put("bad", server.url, type="sse", headers={"X-Key": "secret-header"})
                with pytest.raises(Unavailable):
                    await servers.clock.until_done(servers.service.call("bad", "act", {}))
        assert other.asked == []


async def test_the_older_transport_in_a_flood(servers: RemoteServers) -> None:
    async def hostile(asked: Asked) -> None:
        if asked.method == "POST":
            await asked.say(202)
            return
        await asked.begin("text/event-stream")
        asked.writer.write(b"event: endpoint\ndata: /messages\n\n")
        await asked.for_ever(EVENT * 100)

    async with hostile_server(hostile) as server:
        servers.put("bad", server.url, type="sse")
        with pytest.raises(Unavailable) as failed:
            await asyncio.wait_for(servers.service.call("bad", "act", {}), 60)
        assert failed.value.key == "flood"


async def test_what_a_server_answers_is_in_no_log(servers: RemoteServers, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO")

    async def hostile(asked: Asked) -> bool | None:
        if asked.what != "tools/call":
            return False
        await asked.json({"you": "sent", "me": asked.headers["authorization"]})
        return None

    async with hostile_server(hostile) as server:
        servers.put("bad", server.url, headers={"Authorization": "Bearer secret-header"})
        with pytest.raises(Unavailable) as failed:
            await servers.service.call("bad", "act", {})
        assert "secret-header" not in str(failed.value)
    assert "secret-header" not in caplog.text
    assert json.dumps(failed.value.as_json())


async def test_the_reason_of_a_refusal_reaches_the_agent_also_behind_a_mark(servers: RemoteServers) -> None:
    async def refuse(asked: Asked) -> bool | None:
        if asked.what != "tools/call" or asked.message is None:
            return False
        error = {"code": -32602, "message": "Invalid params", "data": {"field": "depth is missing"}}
        document = json.dumps({"jsonrpc": "2.0", "id": asked.message["id"], "error": error})
        await asked.say(200, codecs.BOM_UTF8 + document.encode(), content_type="application/json")
        return None

    async with hostile_server(refuse) as server:
        servers.put("odd", server.url)
        with raises("server_asked_in_vain", names="depth is missing"):
            await servers.service.call("odd", "act", {})


async def with_resources(asked: Asked) -> bool:
    """Introduce a server that says that it has resources; False for all else."""
    if asked.what != "initialize":
        return False
    assert asked.message is not None
    version = asked.message["params"]["protocolVersion"]
    abilities: dict[str, Any] = {"tools": {}, "resources": {}}
    said = {"protocolVersion": version, "capabilities": abilities, "serverInfo": {"name": "a", "version": "1"}}
    await asked.result(said)
    return True


@pytest.mark.parametrize("status", [401, 403])
async def test_a_login_for_tools_alone_is_no_reason_to_sign_in(servers: RemoteServers, status: int) -> None:
    async def hostile(asked: Asked) -> bool | None:
        if not str(asked.what).startswith("resources/"):
            return await with_resources(asked)
        await asked.say(status, www_authenticate='Bearer error="insufficient_scope", scope="all"')
        return None

    async with hostile_server(hostile) as server:
        servers.put("notes", server.url)
        tools, warnings = await servers.service.offered("all", None)
        assert ([tool.name for tool in tools], warnings) == (["act"], ())
        assert servers.service.statuses.of(servers.catalog.get("notes")) == ("connected", None)
        asked = [each.what for each in server.asked if "/list" in str(each.what)]
        assert asked == ["tools/list", "resources/list", "resources/templates/list"]
        assert not any(QUIETLY in each.headers for each in server.asked)


async def test_lists_of_resources_that_hang_cost_no_tools(servers: RemoteServers) -> None:
    came: asyncio.Queue[str | None] = asyncio.Queue()

    async def hostile(asked: Asked) -> bool | None:
        if not str(asked.what).startswith("resources/"):
            return await with_resources(asked)
        await came.put(asked.what)
        await asyncio.Event().wait()
        return None

    async with hostile_server(hostile) as server:
        servers.put("notes", server.url)
        offered = asyncio.create_task(servers.service.offered("all", None))
        for _ in range(2):
            await came.get()
            await servers.clock.advance(4, "tools of notes")  # twice that a turn does wait
        tools, warnings = await offered
        assert ([tool.name for tool in tools], warnings) == (["act"], ())
