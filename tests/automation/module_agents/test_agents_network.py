"""The network of an agent: the hosts of the manifest through core's proxy, and nothing else."""

import asyncio
from typing import Any

import pytest

from tests.automation.module_agents.conftest import MakePlace, Place
from tests.sandbox.egress.internet import PUBLIC
from tests.support.messages_api import MessagesAPI, text, tool_use

pytestmark = pytest.mark.long

FETCH = "python3 -c \"import urllib.request as r; print(r.urlopen('http://{host}/hello', timeout=60).read().decode())\" 2>&1"


def _results(events: list[dict[str, Any]]) -> list[str]:
    return [event["content"] for event in events if event["type"] == "tool_result"]


async def test_bridge_is_the_list_of_the_user(make_place: MakePlace, api: MessagesAPI) -> None:
    place = await make_place(sandbox={"hosts": ["web.example.org"]})

    async def hello(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nhello from outside")

    await place.internet.serve(PUBLIC, 80, hello)
    module = place.module(agents={"caller": {"paths": [], "bash": True, "network": True}})
    api.script(
        tool_use("Bash", {"command": FETCH.format(host="web.example.org")}),
        tool_use("Bash", {"command": FETCH.format(host="api.example.org")}),
        text("done"),
    )
    reached, refused = _results(await place.events(module, agent="caller"))
    assert "hello from outside" in reached
    assert "403" in refused


async def test_a_list_of_hosts_goes_through_the_proxy_and_ends_with_the_run(place: Place, api: MessagesAPI) -> None:
    async def hello(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nhello from outside")

    await place.internet.serve(PUBLIC, 80, hello)
    agent = {"paths": [], "bash": True, "network": ["web.example.org"]}
    module = place.module(agents={"caller": agent})
    api.script(
        tool_use("Bash", {"command": FETCH.format(host="web.example.org")}),
        tool_use("Bash", {"command": FETCH.format(host="api.example.org")}),
        text("done"),
    )
    lines = []
    events = []
    async for event in place.agents.query(module, message="Call!", agent="caller"):
        events.append(event)
        lines.append([line["owner"] for line in place.egress.status()])
    session = events[0]["sessionId"]
    reached, refused = _results(events)
    assert "hello from outside" in reached
    assert "403" in refused
    assert [f"agent:{session}"] in lines
    assert place.egress.status() == []
    assert place.internet.lookups == ["web.example.org"]


async def test_a_page_can_be_read_where_there_are_hosts(place: Place, api: MessagesAPI) -> None:
    def agent(network: list[str]) -> dict[str, Any]:
        return {"paths": [], "capabilities": ["read", "webfetch", "task"], "network": network}

    module = place.module(agents={"caller": agent(["web.example.org"]), "reader": agent([])})
    fetch = {"url": "https://api.example.org/one", "prompt": "What is it?"}
    api.script(tool_use("WebFetch", fetch), text("It may not be read."), text("It cannot be read."))
    (refused,) = _results(await place.events(module, agent="caller"))
    assert "may not reach api.example.org:443: it is not on the list of allowed hosts" in refused
    assert place.internet.lookups == []
    await place.events(module, agent="reader")
    offered = [{tool["name"] for tool in request.body["tools"]} for request in api.conversation[1:]]
    assert offered == [{"Read", "WebFetch", "Agent"}, {"Read", "Agent"}]
