"""Streams of MCP: news of lists, progress of what takes long, and the end of what is cancelled."""

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import AsyncExitStack, aclosing, asynccontextmanager
from typing import Any

import httpx2
import pytest

from tests.modules.mcp_endpoint.granted import Granted
from tests.modules.runtime.module_computer import ModuleServer
from tests.support.browser import Browser
from tests.support.installation import PLAIN
from tests.support.making import Make
from tests.support.mcp_client import OwnersBrowser
from tests.support.waiting import until

pytestmark = pytest.mark.process

WAITING = """
def __init__(self):
    self.said = []

@mcp_tool("waiting-wait", read_only=True)
async def wait(self) -> str:
    "Wait for good."
    self.said.append("began")
    try:
        return str(await asyncio.get_running_loop().create_future())
    finally:
        self.said.append("ended")

@mcp_tool("waiting-said", read_only=True)
async def tell(self) -> list[str]:
    "Tell what happened."
    return self.said
"""
ALL = ["waiting-wait", "waiting-said"]
STREAM = {"accept": "application/json, text/event-stream"}


@pytest.fixture(scope="module")
def waiting(make_shared_server: Make[ModuleServer]) -> ModuleServer:
    """A server with a tool that never answers."""
    server = make_shared_server(ModuleServer)
    tools = [{"name": name, "description": "Wait"} for name in ALL]
    server.install("waiting", WAITING, top="import asyncio", mcp_tools=tools)
    return server


@pytest.fixture
def granted(waiting: ModuleServer) -> Any:
    """A client that may wait."""
    with Browser(waiting) as browser:
        browser.sign_in()
        client = Granted(OwnersBrowser(browser), tools=ALL)
        assert client.give(tools=ALL) == 200
        yield client


@asynccontextmanager
async def http(client: Granted, **headers: str) -> AsyncIterator[httpx2.AsyncClient]:
    """HTTP with the token of a client."""
    headers = {"authorization": f"Bearer {client.token}", **STREAM, **headers}
    base = client.bare.computer.url
    async with httpx2.AsyncClient(base_url=base, headers=headers, timeout=60, **PLAIN) as made:
        yield made


async def events(response: httpx2.Response) -> AsyncGenerator[dict[str, Any], None]:
    """The messages of a stream."""
    async for line in response.aiter_lines():
        if line.startswith("data: "):
            yield json.loads(line.removeprefix("data: "))


def message(method: str, number: int = 1, **params: Any) -> dict[str, Any]:
    """A request."""
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": params}


def cancellation(number: int) -> dict[str, Any]:
    """The notification that a request is cancelled."""
    return {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": number}}


async def begun(client: Granted, count: int) -> None:
    """Wait until the tool has been called so often."""

    async def said() -> bool:
        answer = await asyncio.to_thread(client.send, "tools/call", name="waiting-said")
        return str(answer["content"][0]["text"]).count("began") >= count

    await until(said, "the tool is at work")


async def ended(client: Granted) -> None:
    """Wait until no call of the tool is at work."""

    async def said() -> bool:
        answer = await asyncio.to_thread(client.send, "tools/call", name="waiting-said")
        told = json.loads(answer["content"][0]["text"])
        return bool(told.count("began") == told.count("ended"))

    await until(said, "the tool has ended")


async def test_a_cancelled_call_ends_its_work_and_no_other(granted: Granted) -> None:
    call = message("tools/call", 7, name="waiting-wait")
    async with http(granted) as mine:
        one, other = ({"mcp-session-id": name} for name in ("one", "other"))
        calls = [asyncio.create_task(mine.post("/mcp", json=call, headers=each)) for each in (one, other)]
        await begun(granted, 2)
        assert (await mine.post("/mcp", json=cancellation(8), headers=one)).status_code == 202
        assert (await mine.post("/mcp", json=cancellation(7), headers=one)).status_code == 202
        assert (await calls[0]).json()["error"]["code"] == -32800
        assert not calls[1].done()
        assert (await mine.delete("/mcp", headers=other)).status_code == 200
        assert (await calls[1]).json()["error"]["code"] == -32800
    await ended(granted)
    assert "cancelled" in [each["error"] for each in granted.received()]


@pytest.mark.long
async def test_what_takes_long_tells_of_its_progress(granted: Granted) -> None:
    call = message("tools/call", 9, name="waiting-wait", _meta={"progressToken": "mine"})
    async with http(granted) as mine, mine.stream("POST", "/mcp", json=call) as response:
        assert response.headers["content-type"].startswith("text/event-stream")
        assert response.headers["x-accel-buffering"] == "no"
        async with aclosing(events(response)) as told:
            news = [await anext(told), await anext(told)]
            assert [each["params"]["progressToken"] for each in news] == ["mine", "mine"]
            assert news[0]["params"]["progress"] < news[1]["params"]["progress"]
            await mine.post("/mcp", json=cancellation(9))
            answer = [each async for each in told if "id" in each]
    assert [(each["id"], each["error"]["code"]) for each in answer] == [(9, -32800)]
    await ended(granted)


async def test_lists_that_become_others_are_told_to_whom_they_are_others(
    granted: Granted, waiting: ModuleServer
) -> None:
    async with http(granted) as mine, mine.stream("GET", "/mcp") as response, aclosing(events(response)) as told:
        assert await asyncio.to_thread(granted.give, tools=ALL[:1], bytes_a_day=2000) == 200
        assert (await anext(told))["method"] == "notifications/tools/list_changed"
        assert await asyncio.to_thread(granted.give, tools=[*ALL[:1], "resources-files"]) == 200
        assert (await anext(told))["method"] == "notifications/resources/list_changed"
        await asyncio.to_thread(waiting.ask, "POST", "/api/modules/waiting/disable")
        assert (await anext(told))["method"] == "notifications/tools/list_changed"
        await asyncio.to_thread(waiting.ask, "POST", "/api/modules/waiting/enable")
        assert (await anext(told))["method"] == "notifications/tools/list_changed"
        await asyncio.to_thread(granted.browser.ask, "DELETE", f"/api/mcp-clients/{granted.id}")
        assert [each async for each in told if "error" in each] == []


async def test_a_stream_is_asked_for_in_words(granted: Granted) -> None:
    async with http(granted, accept="*/*") as mine:
        assert (await mine.get("/mcp")).status_code == 405


async def test_so_many_streams_and_no_more(granted: Granted) -> None:
    async with http(granted) as mine, AsyncExitStack() as streams:
        begun = [await streams.enter_async_context(mine.stream("GET", "/mcp")) for _ in range(8)]
        assert {each.status_code for each in begun} == {200}
        refused = await mine.get("/mcp")
        assert (refused.status_code, refused.json()["key"]) == (429, "too_many_calls")
        said = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
        assert (await mine.post("/mcp", json=said)).status_code == 200, "calls are counted apart"
