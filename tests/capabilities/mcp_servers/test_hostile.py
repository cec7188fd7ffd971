"""Servers that mean no good: each costs an error, and everybody else goes on."""

import asyncio
import json
import os

import pytest

from parachute.base.errors import Unavailable
from parachute.capabilities.mcp_servers import transport
from parachute.sandbox.engines.bubblewrap import counts_processes_by_namespace
from tests.capabilities.mcp_servers.programs import plain
from tests.capabilities.mcp_servers.running_servers import RunningServers, running_servers
from tests.conftest import needs_bubblewrap
from tests.support.errors import raises

pytestmark = [needs_bubblewrap, pytest.mark.long]

NOTES = """
def act(asked):
    while True:
        send({"method": "notifications/message", "params": {"level": "info", "data": "again"}})
"""
LONG = """
def act(asked):
    text(asked, "x" * (3 * 1024 * 1024))
"""
ENDLESS = """
def act(asked):
    while True:
        sys.stdout.write("x" * 65536)
"""
REQUESTS = """
def act(asked):
    number = 0
    while True:
        number += 1
        send({"id": "own-%d" % number, "method": "sampling/createMessage", "params": {"messages": [], "maxTokens": 9}})
"""
GARBAGE = """
def act(asked):
    while True:
        print("{not json" + "[" * 500, flush=True)
"""
EXITS = """
def act(asked):
    sys.exit(0)
"""
SILENT = """
def act(asked):
    sys.stdout.flush()
    os.close(1)
    time.sleep(1000)
"""


@pytest.mark.parametrize("code", [NOTES, LONG, ENDLESS, REQUESTS, GARBAGE, EXITS, SILENT])
async def test_a_call_that_ends_in_a_flood_or_in_nothing(servers: RunningServers, code: str) -> None:
    servers.plain("hostile", code)
    servers.plain("solid")
    hostile = asyncio.create_task(servers.service.call("hostile", "act", {}))
    assert await servers.service.call("solid", "act", {}) == "done"
    with pytest.raises(Unavailable, match="The MCP server hostile "):
        await asyncio.wait_for(hostile, 60)
    assert await servers.service.call("solid", "act", {}) == "done"


async def test_other_calls_are_answered_during_a_flood(
    servers: RunningServers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transport, "_MESSAGES", 10**9)
    monkeypatch.setattr(transport, "_BYTES", 10**12)
    servers.plain("hostile", NOTES)
    servers.plain("solid")
    flood = asyncio.create_task(servers.service.call("hostile", "act", {}))
    for _ in range(5):
        assert await servers.service.call("solid", "act", {}) == "done"
    assert not flood.done()
    flood.cancel()
    await asyncio.gather(flood, return_exceptions=True)


async def test_a_call_that_hangs_can_be_stopped(servers: RunningServers) -> None:
    servers.plain("slow", "def act(asked):\n    if asked['params']['arguments']:\n        text(asked, 'now')\n")
    call = asyncio.create_task(servers.service.call("slow", "act", {}))
    assert await servers.service.call("slow", "act", {"now": True}) == "now"
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    with raises("too_slow"):
        await servers.clock.until_done(servers.service.call("slow", "act", {}))
    assert await servers.service.call("slow", "act", {"now": True}) == "now"


KERNEL = """
def act(asked):
    import ctypes, socket
    libc = ctypes.CDLL(None, use_errno=True)
    said = []
    for words in ((272, 97, 0x10000000), (250, 219, 0, -4, 1), (425, 425, 2, ctypes.create_string_buffer(120))):
        number = words[0 if os.uname().machine == "x86_64" else 1]
        said.append(libc.syscall(ctypes.c_long(number), *words[2:]) >= 0)
    try:
        socket.socket(40, socket.SOCK_STREAM)
        said.append(True)
    except OSError:
        said.append(False)
    text(asked, json.dumps(said))
"""


async def test_a_server_gets_no_calls_that_open_the_kernel(servers: RunningServers) -> None:
    servers.plain("hostile", KERNEL)
    assert json.loads(await servers.service.call("hostile", "act", {})) == [False] * 4


NEVER = "def introduce(asked):\n    pass\n"
LIES = "def introduce(asked):\n    send({'id': asked['id'], 'result': {'protocolVersion': '1', 'capabilities': 7}})\n"
OTHERS = "def offer(asked):\n    send({'id': asked['id'], 'result': {'tools': 'many'}})\n"
REFUSES = "def offer(asked):\n    send({'id': asked['id'], 'error': {'code': -32601, 'message': 'no such thing'}})\n"
DIES = "def begin():\n    sys.exit('this is how it is')\n"


@pytest.mark.parametrize("code", [NEVER, LIES, OTHERS, REFUSES, DIES])
async def test_a_server_that_does_not_begin_is_left_out_with_one_warning(servers: RunningServers, code: str) -> None:
    servers.plain("solid")
    await servers.offered()
    servers.plain("hostile", code)
    for _ in range(2):
        offered = servers.offered()
        tools, warnings = await (servers.clock.until_done(offered) if code == NEVER else offered)
        assert [(tool.server, tool.name) for tool in tools] == [("solid", "act")]
        assert len(warnings) == 1
        assert warnings[0].startswith("hostile is left out. The MCP server hostile ")
    assert len((await servers.service.offer("solid")).tools) == 1


OFFER = """
def offer(asked):
    send({"id": asked["id"], "result": {"tools": %s, "nextCursor": "more"}})
"""


async def offered(servers: RunningServers, tools: str) -> list[str]:
    """The names of the tools that a chat gets of a server which offers these (Python) on endless pages."""
    servers.plain("hostile", OFFER % tools)
    found, warnings = await servers.offered()
    assert all("left out" in warning for warning in warnings)
    return [tool.name for tool in found]


async def test_what_no_model_could_be_given_is_left_out(servers: RunningServers) -> None:
    tools = """[
        tool("fine"), tool("fine"), tool("mcp__parachute__fine"), tool("a b"), tool("x" * 65), tool("böse"),
        tool("huge", inputSchema={"type": "object", "properties": {"a": {"description": "x" * 70000}}}),
        tool("deep", inputSchema={"type": "object", "oneOf": [{}]}),
    ]"""
    assert await offered(servers, tools) == ["a_b", "b_se", "fine", "mcp__parachute__fine"]
    left_out = (await servers.service.offer("hostile")).left_out
    assert [each.name for each in left_out] == ["deep", "huge", "x" * 64]
    servers.plain("other", OFFER % "[tool('fine')]")
    shown = {(tool.server, tool.name) for tool in (await servers.offered())[0]}
    assert {("hostile", "fine"), ("hostile", "mcp__parachute__fine"), ("other", "fine")} <= shown


async def test_no_more_than_a_bounded_number_of_tools_and_words(servers: RunningServers) -> None:
    assert len(await offered(servers, "[tool('t%d' % number) for number in range(600)]")) == 200
    left_out = (await servers.service.offer("hostile")).left_out
    assert (len(left_out), left_out[-1].name) == (301, "all others")
    schema = "{'type': 'object', 'properties': {'a': {'description': 'x' * 60000}}}"
    tools = f"[tool('t%d' % number, inputSchema={schema}) for number in range(10)]"
    assert len(await offered(servers, tools)) == 4
    assert await offered(servers, "[tool('long', description='x' * 1000000)]") == ["long"]
    (tool,) = (await servers.offered())[0]
    assert len(tool.description) <= 2_000


async def test_a_pattern_for_results_is_not_used(servers: RunningServers) -> None:
    # The library would check the result with it: a pattern like this one never comes to an end.
    code = """
TOOLS = [tool("act", outputSchema={"type": "object", "properties": {"a": {"pattern": "^(a+)+$"}}})]
def act(asked):
    result = {"content": [], "structuredContent": {"a": "a" * 64 + "b"}}
    send({"id": asked["id"], "result": result})
"""
    servers.plain("hostile", code)
    assert [tool.name for tool in (await servers.offered())[0]] == ["act"]
    answer = await asyncio.wait_for(servers.service.call("hostile", "act", {}), 60)
    assert json.loads(answer) == {"a": "a" * 64 + "b"}


async def test_contents_of_every_kind(servers: RunningServers) -> None:
    code = """
def act(asked):
    blocks = [
        {"type": "text", "text": "one"}, {"type": "image", "data": "aGk=", "mimeType": "image/png"},
        {"type": "resource_link", "uri": "file:///etc/passwd", "name": "link"},
        {"type": "resource", "resource": {"uri": "a://b", "text": "two"}},
        {"type": "resource", "resource": {"uri": "a://c", "blob": "aGk="}}, {"type": "hologram", "waves": 3},
    ]
    send({"id": asked["id"], "result": {"content": blocks, "isError": bool(asked["params"]["arguments"])}})
"""
    servers.plain("kinds", code)
    lines = (await servers.service.call("kinds", "act", {})).splitlines()
    assert (lines[0], lines[3]) == ("one", "two")
    assert lines[1] == "[image, image/png, 3 bytes: it cannot be shown here]"
    assert lines[5] == "[hologram: a part of an unknown kind, which cannot be shown here]"
    assert (lines[2], lines[4]) == (
        "[link to file:///etc/passwd]",
        "[a://c, unknown kind, 3 bytes: it cannot be shown here]",
    )
    with raises("tool_failed", names="one"):
        await servers.service.call("kinds", "act", {"fail": True})


async def test_one_malformed_tool_costs_one_tool(servers: RunningServers) -> None:
    code = """
sys.stdout.write(chr(0xFEFF))
TOOLS = [tool("act"), tool("bad", inputSchema={"anyOf": [{"type": "object"}]}), tool("last.one"), tool(7)]
def act(asked):
    if asked["params"]["name"] == "last.one":
        text(asked, "as it is called there")
    else:
        send({"id": asked["id"], "result": {}})
"""
    servers.plain("mixed", code)
    tools, (warning,) = await servers.offered()
    assert [tool.name for tool in tools] == ["act", "last_one"]
    assert ("bad (" in warning, "number 4 (" in warning) == (True, True)
    assert await tools[1].call({}) == "as it is called there"
    assert await tools[0].call({}) == "The tool answered with an empty result."
    # What was kept of it says the same to a process that has not asked the server.
    async with running_servers(servers.launcher) as later:
        assert [tool.name for tool in (await later.offered())[0]] == ["act", "last_one"]
        assert later.service.running() == frozenset()


async def test_memory_and_processes_are_bounded(servers: RunningServers) -> None:
    code = """
def act(asked):
    found = {}
    try:
        bytearray(2 << 30)
        found["memory"] = "had"
    except MemoryError:
        found["memory"] = "refused"
    children = []
    try:
        for _ in range(400):
            child = os.fork()
            if child == 0:
                time.sleep(60)
                os._exit(0)
            children.append(child)
        found["processes"] = "had"
    except OSError:
        found["processes"] = "refused"
    for child in children:
        os.kill(child, 9)
        os.waitpid(child, 0)
    text(asked, json.dumps(found))
"""
    servers.plain("greedy", code)
    found = json.loads(await servers.service.call("greedy", "act", {}))
    assert found["memory"] == "refused"
    if os.geteuid() != 0 and counts_processes_by_namespace(os.uname().release):  # root is not counted
        assert found["processes"] == "refused"


async def test_it_reaches_the_hosts_of_its_approval_through_the_proxy_only(servers: RunningServers) -> None:
    code = """
import urllib.request
def act(asked):
    found = {}
    for address in ("http://listed.example.org/", "http://other.example.org/", "http://127.0.0.1:22/"):
        try:
            urllib.request.urlopen(address, timeout=10)
            found[address] = "reached"
        except urllib.error.HTTPError as error:
            found[address] = error.read().decode()
        except OSError as error:
            found[address] = str(error)
    text(asked, json.dumps(found))
"""
    servers.write("online", servers.program("online", plain(code)))
    servers.approve("online", hosts=["listed.example.org"])
    found = json.loads(await servers.service.call("online", "act", {}))
    assert "not on the list" in found["http://other.example.org/"]
    assert "not on the list" not in found["http://listed.example.org/"]  # it was looked for, and there is none
    assert found["http://127.0.0.1:22/"] != "reached"
    (line,) = servers.service._running._egress.status()
    assert (line["owner"], line["hosts"]) == ("mcp:online", ["listed.example.org"])
    await servers.service._running.end("online")
    assert servers.service._running._egress.status() == []


async def test_without_an_approval_for_hosts_there_is_no_proxy(servers: RunningServers) -> None:
    servers.plain("offline", "def act(asked):\n    text(asked, str(os.environ.get('HTTPS_PROXY')))\n")
    assert await servers.service.call("offline", "act", {}) == "None"
    with raises("invalid_hosts", names="hosts"):
        servers.approve("offline", hosts=["localhost"])
    assert servers.catalog.get("offline").state == "approved"  # a wrong host changed nothing
