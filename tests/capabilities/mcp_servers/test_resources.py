"""Resources of a server written with MCP's library: an agent lists and reads them by two tools of ours."""

import pytest

from tests.capabilities.mcp_servers.running_servers import RunningServers
from tests.conftest import needs_bubblewrap
from tests.support.errors import raises

pytestmark = [needs_bubblewrap, pytest.mark.long]

HARBOUR = '''
from mcp.server import MCPServer
from mcp.types import BlobResourceContents, EmbeddedResource, ImageContent, AudioContent, TextContent

server = MCPServer("harbour")


@server.resource("harbour://boats", title="Boats", mime_type="text/plain")
def boats() -> str:
    """All boats."""
    return "Anna, Berta"


@server.resource("harbour://boat/{name}")
def boat(name: str) -> str:
    """One boat."""
    return "The boat " + name + " lies in Kiel."


@server.resource("harbour://plan", mime_type="image/png")
def plan() -> bytes:
    """A picture."""
    return b"png"


@server.tool()
def look() -> list[object]:
    """Look around."""
    return [
        TextContent(type="text", text="Here:"),
        ImageContent(type="image", data="cG5n", mime_type="image/png"),
        AudioContent(type="audio", data="d2F2", mime_type="audio/wav"),
        EmbeddedResource(type="resource", resource=BlobResourceContents(uri="harbour://x", blob="cGRm", mime_type="application/pdf")),
    ]


server.run()
'''


async def test_resources_are_listed_and_read(servers: RunningServers) -> None:
    servers.write("harbour", servers.program("harbour", HARBOUR))
    servers.approve("harbour")
    tools = {tool.name: tool for tool in (await servers.offered())[0]}
    assert [*tools] == ["list_resources", "look", "read_resource"]
    assert tools["read_resource"].origin == tools["look"].origin
    lines = (await tools["list_resources"].call({})).splitlines()
    assert [line.partition("  ")[0] for line in lines] == [
        "harbour://boats",
        "harbour://plan",
        "Pattern: harbour://boat/{name}",
    ]
    assert await tools["read_resource"].call({"uri": "harbour://boats"}) == "Anna, Berta"
    assert await tools["read_resource"].call({"uri": "harbour://boat/Anna"}) == "The boat Anna lies in Kiel."
    assert "image/png, 3 bytes" in await tools["read_resource"].call({"uri": "harbour://plan"})
    with raises("tool_failed"):
        await tools["read_resource"].call({"uri": "x" * 5_000})
    with raises("server_asked_in_vain"):
        await tools["read_resource"].call({"uri": "harbour://none"})
    shown = (await tools["look"].call({})).splitlines()
    assert shown[0] == "Here:"
    assert [line.split(":")[0] for line in shown[1:3]] == ["[image, image/png, 3 bytes", "[audio, audio/wav, 3 bytes"]
    assert shown[3].startswith("[harbour://x, application/pdf, 3 bytes")


async def test_a_server_with_resources_alone(servers: RunningServers) -> None:
    code = """
def introduce(asked):
    send({"id": asked["id"], "result": {"protocolVersion": asked["params"]["protocolVersion"],
          "capabilities": {"resources": {}}, "serverInfo": {"name": "plain", "version": "1"}}})

def offer(asked):
    send({"id": asked["id"], "error": {"code": -32601, "message": "Method not found"}})

RESOURCES = {"notes://boat": "The boat lies in Kiel."}
"""
    servers.plain("notes", code)
    tools = {tool.name: tool for tool in (await servers.offered())[0]}
    assert [*tools] == ["list_resources", "read_resource"]
    assert await tools["read_resource"].call({"uri": "notes://boat"}) == "The boat lies in Kiel."


async def test_lists_of_resources_are_bounded(servers: RunningServers) -> None:
    code = """
def introduce(asked):
    send({"id": asked["id"], "result": {"protocolVersion": asked["params"]["protocolVersion"],
          "capabilities": {"tools": {}, "resources": {}}, "serverInfo": {"name": "plain", "version": "1"}}})

def more(asked):
    number = int(asked.get("params", {}).get("cursor", "0"))
    found = [{"uri": "n://%d/%d" % (number, each), "name": "x" * 9000} for each in range(30)]
    send({"id": asked["id"], "result": {"resources": found, "nextCursor": str(number + 1)}})
"""
    servers.plain("many", code)
    tools = {tool.name: tool for tool in (await servers.offered())[0]}
    lines = (await tools["list_resources"].call({})).splitlines()
    assert (len(lines), lines[0][:8], max(map(len, lines)) < 400) == (201, "n://0/0 ", True)
    assert lines[-1].startswith("[There are more")
