"""The tool `suggest`: which agents have it, and for whose data."""

import contextlib
from collections.abc import AsyncIterator
from typing import Any, cast

import pytest

from parachute.automation.module_agents.service import ModuleAgents
from parachute.automation.suggestions.own_settings import SETTINGS, OwnSettings
from parachute.automation.suggestions.service import Suggestions
from parachute.automation.suggestions.store import ALL, SuggestionStore
from parachute.automation.suggestions.tools import AgentTools
from parachute.base.database import Database
from parachute.base.errors import NotFound
from parachute.chat.sessions.trust_store import TrustStore
from parachute.core.errors import ModuleError
from parachute.events.bus.service import Events
from parachute.modules.runtime.models import AcceptedChange, ApprovedModule, OfferedTool
from parachute.modules.runtime.origins import ModuleOrigins
from parachute.modules.runtime.service import Hosts
from parachute.sandbox.egress.service import Egress
from parachute.security.audit.service import Audit
from parachute.security.origin import Origin
from tests.automation.module_agents.modules import approved
from tests.chat.agent_processes.core import core
from tests.supervisor.launching import launcher
from tests.support.messages_api import MessagesAPI, text, tool_use

pytestmark = pytest.mark.long

SUGGEST = "mcp__parachute__suggest"
AGENTS = {
    "reflection": {"capabilities": ["read"], "can_suggest": ["people"]},
    "reader": {"capabilities": ["read"]},
}
CHANGE = {"action": "create", "target_module": "people", "payload": {"name": "Ann"}, "reasoning": "She is mentioned."}


class Modules:
    """The modules of a test, at the protocol by which suggestions ask core's hosts for them."""

    def __init__(self) -> None:
        self.known: dict[str, ApprovedModule] = {}

    def tools(self) -> tuple[OfferedTool, ...]:
        """None of modules."""
        return ()

    def changes(self) -> tuple[AcceptedChange, ...]:
        """None that is declared."""
        return ()

    def approved(self, name: str) -> ApprovedModule:
        """One that runs."""
        return self.known[name]

    async def host(self, name: str) -> None:
        """Check that the module exists."""
        if name not in self.known:
            raise NotFound(f"The module {name} is not installed.")

    async def call_tool(self, name: str, arguments: dict[str, Any], caller: str) -> str:
        """None of modules."""
        raise ModuleError(f"{name} was called.")


async def answered(session: str, module: str) -> None:
    """No module is asked."""


class Place:
    """Core with agents of a module that keeps a journal."""

    def __init__(self, agents: ModuleAgents, suggestions: Suggestions, journal: ApprovedModule) -> None:
        self.agents = agents
        self.suggestions = suggestions
        self.journal = journal
        self.session = ""

    async def results(self, agent: str | None) -> list[tuple[bool, str]]:
        """(whether it is an error, content) of the tool calls of a run."""
        events = [event async for event in self.agents.query(self.journal, message="Go!", agent=agent)]
        assert events[-1]["type"] == "done", events
        self.session = events[0]["sessionId"]
        return [(event["isError"], event["content"]) for event in events if event["type"] == "tool_result"]


@pytest.fixture
async def place(api: MessagesAPI, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Place]:
    """One with the modules `journal` and `people`."""
    modules = Modules()
    hosts = cast(Hosts, modules)
    async with contextlib.AsyncExitStack() as stack:
        running = stack.enter_context(launcher())
        monkeypatch.setenv("HOME", str(running.folder))
        for name, agents in (("journal", AGENTS), ("people", {})):
            modules.known[name] = approved(running.folder / "modules", name, agents=agents)
        audit = Audit(running.folder / "suggestions-audit")
        database = Database(running.folder / "suggestions.db", ALL)
        stack.push_async_callback(database.close)
        await database.open()
        trust: list[TrustStore] = []

        async def origin_of(session: str) -> Origin:
            return await trust[0].origin(session) or Origin.IMPORT

        own = {SETTINGS: OwnSettings(running.home)}
        suggestions = Suggestions(SuggestionStore(database), hosts, own, Events(audit), audit, origin_of)
        tools = AgentTools(hosts, suggestions, lambda session: trust[0].owner(session), answered)
        made = await stack.enter_async_context(core(running, api.url, tools))
        trust.append(made.services.sessions._trust)
        egress = Egress(made.audit)
        stack.push_async_callback(egress.close_all)
        yield Place(
            ModuleAgents(made.services, made.runs, egress, ModuleOrigins()), suggestions, modules.known["journal"]
        )


async def test_an_agent_proposes_within_its_manifest(place: Place, api: MessagesAPI) -> None:
    elsewhere = {**CHANGE, "target_module": "journal"}
    api.script(tool_use(SUGGEST, CHANGE), tool_use(SUGGEST, elsewhere), text("done"))
    first, second = await place.results("reflection")
    (tool,) = [each for each in api.conversation[0].body["tools"] if each["name"] == SUGGEST]
    assert tool["input_schema"]["properties"]["target_module"]["enum"] == ["people"]
    (found,), total = await place.suggestions.page()
    assert first == (False, f"The suggestion {found.id} waits for the user, who decides about it.")
    assert second[0] is True
    assert "may not make suggestions for 'journal'" in second[1]
    assert total == 1
    assert (found.source_agent, found.payload) == ("journal/reflection", {"name": "Ann"})
    assert (found.status, found.reasoning) == ("pending", "She is mentioned.")
    assert found.source_session == place.session


async def test_other_agents_do_not_have_the_tool(place: Place, api: MessagesAPI) -> None:
    for agent in ("reader", None):
        api.script(tool_use(SUGGEST, CHANGE), text("done"))
        ((is_error, _),) = await place.results(agent)
        assert is_error
    assert not [tool for request in api.conversation for tool in request.body["tools"] if tool["name"] == SUGGEST]
    assert (await place.suggestions.page())[1] == 0
