"""MCP servers of each conversation, and the tools that its agent may call."""

import asyncio
import contextlib
import os
from typing import Any

import pytest
from msgspec.structs import replace

from parachute.base.errors import InvalidInput
from parachute.capabilities.mcp_servers.running import IDLE_SECONDS
from parachute.chat.agent_processes.listed_tools import server_tool_listed
from parachute.chat.agent_processes.models import ServerTool
from parachute.chat.agent_processes.tools import CALL_SECONDS, ToolServer
from parachute.chat.sessions.models import Session
from parachute.chat.workspaces.models import EVERYTHING, Workspace
from parachute.config.settings.home import Home
from parachute.supervisor import units
from parachute.supervisor.logs import log_path
from parachute.supervisor.systemd.rendering import render
from tests.capabilities.mcp_servers.running_servers import RunningServers, running_servers
from tests.chat.agent_processes.core import core
from tests.chat.agent_processes.module_tools import Reading
from tests.conftest import needs_bubblewrap
from tests.supervisor.launching import Launcher
from tests.support.messages_api import MessagesAPI

pytestmark = pytest.mark.long

MOMENT = "2026-01-01T00:00:00Z"


@needs_bubblewrap
async def test_what_each_kind_of_conversation_gets(supervisor: Launcher, api: MessagesAPI) -> None:
    chosen: dict[str, Any] = {"default_capabilities": {"mcps": ["reading", "notes"]}}
    async with contextlib.AsyncExitStack() as stack:
        servers = await stack.enter_async_context(running_servers(supervisor))
        made = await stack.enter_async_context(
            core(supervisor, api.url, Reading("reading_search"), servers.service, **chosen)
        )
        for name in ("notes", "other"):
            servers.plain(name)

        async def names(source: str = "parachute", mcps: Any = None) -> tuple[str, ...]:
            session = Session("11111111-2222-4333-8444-555555555555", MOMENT, MOMENT, source=source)
            workspace = Workspace("w", "W", MOMENT, MOMENT, replace(EVERYTHING, mcps=mcps)) if mcps else None
            prepared = await made.preparation.prepare(session, None, None, resume=False, workspace=workspace)
            assert prepared.execution.warnings == ()
            return prepared.policy.mcp_tools

        own, notes, other = "mcp__parachute__reading_search", "mcp__notes__act", "mcp__other__act"
        await servers.offered()
        assert await names() == (own, notes)
        assert await names(source="telegram") == (own,)
        assert await names(source="telegram", mcps=("other",)) == (other,)
        assert await names(mcps="all") == (own, notes, other)
        assert await names(mcps="none") == ()
        assert await names(mcps=("parachute",)) == (own,)


def test_a_list_of_tools_names_a_server_or_its_tools() -> None:
    for listed, expected in (
        (("mcp__notes",), True),
        (("mcp__notes__search",), True),
        (("mcp__notes__*",), True),
        (("mcp__notes__sea*",), True),
        (("mcp__notes__se",), False),
        (("mcp__note*",), False),
        (("mcp__*",), False),
        (("*",), False),
        (("notes", "search"), False),
        ((), False),
    ):
        assert server_tool_listed("notes", "search", listed) is expected


def tool(server: str, answer: str) -> ServerTool:
    """A tool `act` of a server."""

    async def call(arguments: dict[str, Any]) -> str:
        return answer

    return ServerTool(server, "act", "Do it.", {"type": "object"}, call=call, server=server)


async def test_a_permit_is_for_one_tool_of_one_server() -> None:
    server = ToolServer("session", (tool("one", "first"), tool("two", "second")), Reading())
    assert set(server.configuration()) == {"one", "two"}
    server.permit("mcp__one__act", {}, lambda answer: None)
    assert await server.answer("act", {}, "two") == ("This call of act was not allowed.", True)
    assert (await server.answer("act", {}))[1] is True
    assert await server.answer("act", {}, "one") == ("first", False)
    assert (await server.answer("act", {}, "one"))[1] is True
    await server.close()


@pytest.mark.parametrize("name", ["mcp@", "mcp@a b", "mcp@../x", "mcp@a__b", "mcp@a/b", "mcp@-a", "mcp@a\n", "mcp@é"])
def test_units_that_cannot_be(supervisor: Launcher, name: str) -> None:
    with pytest.raises(InvalidInput):
        units.by_name(supervisor.home, name)


def test_all_servers_share_one_template_under_systemd(supervisor: Launcher) -> None:
    home = Home(supervisor.home.root)
    unit = units.by_name(home, "mcp@notes")
    files = render(unit, home, log_path(home, unit.name))
    assert set(files) == {"parachute-mcp@.service", "parachute-mcp@.socket"}
    assert "parachute.capabilities.mcp_servers.launch" in files["parachute-mcp@.service"]
    assert f"{home.root}/run/mcp/%i/server.sock" in files["parachute-mcp@.socket"]


@needs_bubblewrap
async def test_what_is_idle_or_not_approved_any_more_ends(servers: RunningServers) -> None:
    servers.plain("kept")
    servers.plain("slow", "def act(asked):\n    open('/data/go').read()\n    text(asked, 'went')\n")
    os.mkfifo(servers.data("slow") / "go")
    assert await servers.service.call("kept", "act", {}) == "done"
    servers.catalog.remove("kept")
    assert "kept" in servers.service.running()
    await servers.clock.advance(15)
    assert "kept" not in servers.service.running()
    call = asyncio.create_task(servers.service.call("slow", "act", {}))
    # It can be opened once the server reads from it.
    opened = await asyncio.to_thread(lambda: (servers.data("slow") / "go").open("w"))
    await servers.clock.advance(CALL_SECONDS - 1)  # it is at work all the time
    opened.close()
    assert await call == "went"
    await servers.clock.advance(IDLE_SECONDS)
    assert "slow" in servers.service.running()
    await servers.clock.advance(30)
    assert not servers.service._running._running
    names = [unit["name"] for unit in (await servers.launcher.ask("status"))["units"]]
    assert not any(name.startswith("mcp@") for name in names)
