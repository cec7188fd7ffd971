"""Answers to the MCP messages of an agent's program, which the SDK hands over."""

import asyncio
from typing import Any

import pytest

from parachute.base.mcp_messages import INVALID_PARAMS, VERSIONS, Tools, Wrong
from parachute.chat.agent_processes.tool_bridge import SdkMcpBridge

LISTED = [{"name": "search", "inputSchema": {"type": "object"}}]


class Books:
    """Tools of a shelf: `search` answers, `hang` waits until it is cancelled."""

    def __init__(self) -> None:
        self.hanging, self.stopped = asyncio.Event(), asyncio.Event()
        self.bridge = SdkMcpBridge("books", Tools({"serverInfo": {"name": "books"}}, lambda: LISTED, self._call))

    async def _call(self, name: object, arguments: dict[str, Any]) -> dict[str, Any]:
        if name == "hang":
            self.hanging.set()
            try:
                await asyncio.Event().wait()
            finally:
                self.stopped.set()
        if name != "search":
            raise Wrong(INVALID_PARAMS, "There is no such tool.")
        return {"content": [{"type": "text", "text": str(arguments)}], "isError": False}

    async def ask(self, method: str, identifier: object = 1, **params: Any) -> Any:
        """Send a request."""
        return await self.bridge.handle({"jsonrpc": "2.0", "id": identifier, "method": method, "params": params})


@pytest.fixture
def books() -> Books:
    return Books()


async def test_a_program_greets_lists_and_calls(books: Books) -> None:
    greeted = await books.ask("initialize", protocolVersion=VERSIONS[1], capabilities={})
    assert greeted["result"] == {
        "protocolVersion": VERSIONS[1],
        "capabilities": {"tools": {}},
        "serverInfo": {"name": "books"},
    }
    assert await books.bridge.handle({"jsonrpc": "2.0", "method": "notifications/initialized"}) is None
    assert (await books.ask("tools/list"))["result"] == {"tools": LISTED}
    answer = await books.ask("tools/call", "two", name="search", arguments={"query": "x"})
    assert answer == {
        "jsonrpc": "2.0",
        "id": "two",
        "result": {"content": [{"type": "text", "text": "{'query': 'x'}"}], "isError": False},
    }
    assert (await books.ask("ping"))["result"] == {}


@pytest.mark.parametrize(
    ("method", "params", "code"),
    [
        ("resources/list", {}, -32601),
        ("tools/call", {"name": "burn"}, -32602),
        ("tools/call", {"name": "search", "arguments": [1]}, -32602),
    ],
)
async def test_what_cannot_be_answered_has_a_number(
    books: Books, method: str, params: dict[str, Any], code: int
) -> None:
    assert (await books.ask(method, **params))["error"]["code"] == code


async def test_a_call_that_the_program_cancels_is_stopped_and_others_go_on(books: Books) -> None:
    call = asyncio.create_task(books.ask("tools/call", 7, name="hang"))
    await books.hanging.wait()
    assert (await books.ask("ping", 7))["error"]["code"] == -32600, "an id that is in use belongs to another"
    cancelling = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 8}}
    assert await books.bridge.handle(cancelling) is None
    assert not call.done()
    assert await books.bridge.handle({**cancelling, "params": {"requestId": 7}}) is None
    assert (await call)["error"]["code"] == -32800
    assert books.stopped.is_set()


async def test_the_end_of_the_agent_stops_its_calls(books: Books) -> None:
    call = asyncio.create_task(books.ask("tools/call", name="hang"))
    await books.hanging.wait()
    await books.bridge.aclose()
    assert books.stopped.is_set()
    await call


async def test_a_caller_that_leaves_stops_its_call(books: Books) -> None:
    call = asyncio.create_task(books.ask("tools/call", name="hang"))
    await books.hanging.wait()
    call.cancel()
    await asyncio.gather(call, return_exceptions=True)
    await books.stopped.wait()
