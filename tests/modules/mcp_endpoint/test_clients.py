"""Programs of the owner's elsewhere that use this computer as an MCP server, by the client of the protocol's own library."""

import contextlib
import json
from collections.abc import AsyncIterator
from typing import Any

import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError
from mcp.types import CallToolResult, TextContent

from tests.modules.runtime.module_computer import ModuleComputer
from tests.support.computer import Computer
from tests.support.installation import PLAIN
from tests.support.making import Make

NOTES = """
def __init__(self):
    self.notes = ["Kevin knows boats."]

@mcp_tool("notes-find", read_only=True)
async def find(self, query: str) -> list[str]:
    "Find notes by a word."
    return [note for note in self.notes if query in note]

@mcp_tool("notes-add")
async def add(self, text: str) -> str:
    "Write a note."
    if not text:
        raise InvalidInput("text: a note needs one.", "Write something.")
    self.notes.append(text)
    return "written"

@mcp_tool("notes-long", read_only=True)
async def long(self) -> str:
    "A very long text."
    return "x" * 500_000
"""
OTHER = """
@mcp_tool("other-secret", read_only=True)
async def secret(self) -> str:
    "Nothing for everybody."
    return "secret"
"""


@pytest.fixture(scope="module")
def notes(make_shared_computer: Make[Computer]) -> ModuleComputer:
    """A computer with two modules: notes, and another one."""
    computer = make_shared_computer(ModuleComputer)
    computer.install_quietly("notes", NOTES, mcp_tools=_tools("notes-find", "notes-add", "notes-long"))
    computer.install("other", OTHER, mcp_tools=_tools("other-secret"))
    computer.wait_until(lambda: len(computer.value("/api/modules")["modules"]) == 2, "both are known")
    return computer


_made: dict[str, str] = {}


def key(computer: ModuleComputer, scope: str, name: str = "") -> str:
    """A key with this scope; one is enough for all tests."""
    name = name or f"Claude with {scope}"
    if name not in _made:
        made = computer.command("keys", "create", name, "--scope", scope, "--json")
        assert made.returncode == 0, made.stderr
        _made[name] = str(json.loads(made.stdout)["key"])
    return _made[name]


@contextlib.asynccontextmanager
async def client(computer: ModuleComputer, secret: str, **headers: str) -> AsyncIterator[Client]:
    """A client as Claude Desktop has one: an address and a header."""
    async with (
        httpx2.AsyncClient(headers={"authorization": f"Bearer {secret}", **headers}, timeout=60, **PLAIN) as http,
        Client(streamable_http_client(f"{computer.url}/mcp", http_client=http)) as session,
    ):
        yield session


async def names(session: Client) -> set[str]:
    """The tools that it is offered."""
    return {tool.name for tool in (await session.list_tools()).tools}


async def test_scopes_decide_which_tools_there_are(notes: ModuleComputer) -> None:
    for scope, offered in (
        ("notes:read", {"notes-find", "notes-long"}),
        ("notes:read,write", {"notes-find", "notes-long", "notes-add"}),
        ("*:read", {"notes-find", "notes-long", "other-secret"}),
        ("chat:read,write", set()),
    ):
        async with client(notes, key(notes, scope)) as session:
            assert await names(session) == offered


def text_of(result: CallToolResult) -> str:
    """The text that an answer begins with."""
    first = result.content[0]
    assert isinstance(first, TextContent)
    return first.text


async def test_a_client_looks_up_and_writes_what_its_key_allows(notes: ModuleComputer) -> None:
    async with client(notes, key(notes, "notes:read,write")) as session:
        found = await session.call_tool("notes-find", {"query": "boats"})
        assert len(found.content) == 1
        assert text_of(found) == '["Kevin knows boats."]'
        assert (await session.call_tool("notes-add", {"text": "Ann knows trains."})).is_error is False
        assert "Ann" in text_of(await session.call_tool("notes-find", {"query": "trains"}))
        refused = await session.call_tool("notes-add", {"text": ""})
        assert (refused.is_error, text_of(refused)) == (True, "text: a note needs one. Write something.")
        wrong = await session.call_tool("notes-find", {"words": "boats"})
        assert wrong.is_error is True
        long = text_of(await session.call_tool("notes-long", {}))
        assert (len(long) < 401_000, "left out" in long) == (True, True)
    async with client(notes, key(notes, "notes:read")) as session:
        for name in ("notes-add", "other-secret", "no-such"):
            with pytest.raises(MCPError, match="for this key"):
                await session.call_tool(name, {"text": "x"})
    said = [(each["target_endpoint"], each["success"]) for each in _audit(notes) if each["event_type"] == "tool_call"]
    assert ("notes-add", True) in said
    assert ("notes-add", False) in said


async def test_nobody_comes_in_without_a_key_or_from_a_foreign_page(notes: ModuleComputer) -> None:
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    good = {"authorization": f"Bearer {key(notes, 'notes:read')}"}
    for headers, status in (
        ({"authorization": "Bearer para_wrong"}, 401),
        ({**good, "origin": "https://evil.example"}, 403),
        ({**good, "host": "evil.example"}, 403),
        (good, 200),
    ):
        answer = notes.ask("POST", "/mcp", json=body, headers=headers)
        assert answer.status_code == status, (headers, answer.text)
    assert notes.ask("GET", "/mcp", headers=good).status_code == 405


async def test_a_revoked_key_ends_at_once(notes: ModuleComputer) -> None:
    async with client(notes, key(notes, "notes:read", "Stolen")) as session:
        assert await names(session)
        assert notes.command("keys", "revoke", "Stolen").returncode == 0
        with pytest.raises(MCPError):
            await session.call_tool("notes-find", {"query": "boats"})


async def test_tools_stop_with_all_agents(notes: ModuleComputer) -> None:
    async with client(notes, key(notes, "notes:read")) as session:
        assert notes.command("panic").returncode == 0
        try:
            stopped = await session.call_tool("notes-find", {"query": "boats"})
            assert (stopped.is_error, "All agents are stopped" in text_of(stopped)) == (True, True)
        finally:
            assert notes.command("resume").returncode == 0


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"[]",
        b'{"jsonrpc": "2.0", "id": {}, "method": "ping"}',
        b'{"jsonrpc": "2.0", "id": 1, "method": "ping", "params": []}',
        b'{"jsonrpc": "2.0", "id": 1, "method": 3}',
        b'{"jsonrpc": "2.0", "id": 1, "method": "resources/read"}',
        b'{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "notes-find", "arguments": 1}}',
        b'{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {}}',
        b'{"jsonrpc": "2.0", "id": 1, "method": "' + b"x" * 100_000 + b'"}',
    ],
)
def test_odd_messages_are_answered_with_what_is_wrong(notes: ModuleComputer, body: bytes) -> None:
    headers = {"authorization": f"Bearer {key(notes, 'notes:read')}", "content-type": "application/json"}
    answer = notes.ask("POST", "/mcp", content=body, headers=headers)
    assert answer.status_code < 500
    assert answer.status_code >= 400 or "error" in answer.json()
    assert len(answer.content) < 2000


def _tools(*tools: str) -> list[dict[str, str]]:
    return [{"name": name, "description": "Something about notes"} for name in tools]


def _audit(computer: ModuleComputer) -> list[dict[str, Any]]:
    headers = {"authorization": f"Bearer {key(computer, '*:admin')}"}
    found: list[dict[str, Any]] = computer.get("/api/audit?limit=200", headers=headers).json()["records"]
    return found
