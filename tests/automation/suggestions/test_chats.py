"""The tool `suggest` in persons' conversations: who has it, what it keeps, and what the owner lets it write."""

import contextlib
import json
from collections.abc import AsyncIterator, Callable
from typing import Any, cast

import pytest

from parachute.automation.suggestions.chats import ChatSuggestions
from parachute.automation.suggestions.inbox import SuggestionsSource
from parachute.automation.suggestions.models import OUTSIDE_LIMIT, Suggestion
from parachute.automation.suggestions.own_settings import SETTINGS, OwnSettings
from parachute.automation.suggestions.service import Suggestions
from parachute.automation.suggestions.store import ALL, SuggestionStore
from parachute.automation.suggestions.tools import AgentTools
from parachute.base.database import Database
from parachute.base.errors import Conflict, InvalidInput, NotAllowed, NotFound
from parachute.chat.runs.request import TurnRequest
from parachute.chat.sessions.service import Sessions
from parachute.events.bus.service import Events
from parachute.events.inbox.models import Answer
from parachute.modules.runtime.models import AcceptedChange, OfferedTool
from parachute.modules.runtime.service import Hosts
from parachute.security.audit.service import Audit
from parachute.security.keys.models import FULL_ACCESS, Caller
from parachute.security.origin import Origin
from tests.chat.agent_processes.core import Answer as Answered
from tests.chat.agent_processes.core import Core, core
from tests.supervisor.launching import launcher
from tests.support.messages_api import MessagesAPI, text, tool_use

pytestmark = pytest.mark.long

SUGGEST = "mcp__parachute__suggest"
KEVIN = "para:people:kevinkevin00"
NOTE = {
    "type": "object",
    "properties": {"note": {"type": "string"}},
    "required": ["note"],
    "additionalProperties": False,
}
CHANGE = {
    "action": "update",
    "target_module": "people",
    "target_id": KEVIN,
    "payload": {"note": "Lives in Berlin."},
    "reasoning": "The user said so.",
}
ADDED = {"action": "create", "target_module": "people", "payload": {"note": "Ann"}, "reasoning": ""}


class Modules:
    """The modules of a test, at the protocol by which core asks hosts: `people` accepts changes, `reading` does not."""

    def __init__(self) -> None:
        self.kevin: dict[str, Any] = {"name": "Kevin", "note": "Lives in Rome.", "version": 1}
        self.made: list[dict[str, Any]] = []

    def tools(self) -> tuple[OfferedTool, ...]:
        schema = {"type": "object", "properties": {}}
        return (OfferedTool("people", "people-find", "Find people", schema), OfferedTool("reading", "read", "", schema))

    def changes(self) -> tuple[AcceptedChange, ...]:
        nothing = {"type": "object", "properties": {}, "additionalProperties": False}
        forms = {"create": NOTE, "update": NOTE, "delete": nothing}
        return tuple(AcceptedChange("people", action, form) for action, form in forms.items())

    async def host(self, name: str) -> "Modules":
        if name not in ("people", "reading", "settings"):
            raise NotFound(f"The module {name} is not installed.")
        return self

    async def ask(self, name: str, what: str, document: Any, seconds: float = 60) -> Any:
        if what == "suggestion":
            assert document["check"]
            if document["payload"].get("note") == "unwanted":
                raise InvalidInput("note: this is not wanted here.")
            return {"checked": True}
        if document["id"] != KEVIN:
            raise NotFound(f"people knows no {document['id']}.")
        return {"item": self.kevin}

    async def control(self, method: str, what: str, document: Any, seconds: float = 60) -> Any:
        if document.get("withdraw"):
            return {"applied": False}
        if document["action"] == "update" and document["expected_version"] != self.kevin["version"]:
            raise Conflict("Kevin has changed since.")
        self.made.append({"action": document["action"], "payload": document["payload"]})
        self.kevin = {**self.kevin, **document["payload"], "version": self.kevin["version"] + 1}
        return {"result": {"done": True}}


class Place:
    """Conversations of a person beside suggestions."""

    def __init__(self, made: Core, suggestions: Suggestions, modules: Modules, api: MessagesAPI) -> None:
        self.core = made
        self.suggestions = suggestions
        self.modules = modules
        self.api = api

    async def says(self, *calls: dict[str, Any], session: str = "new", by_owner: bool = True) -> Answered:
        """A turn in which the agent makes these calls of the tool."""
        self.api.script(*(tool_use(SUGGEST, call) for call in calls), text("Noted."))
        request = TurnRequest(message="Remember it.", session_id=session)
        run = await self.core.runs.begin(request, "somebody", by_owner=by_owner)
        return await self.core.finished(run)

    async def from_outside(self, platform: str = "telegram") -> str:
        """A conversation in which others write."""
        session = await self.core.services.sessions.get((await self.says()).session)
        session.source = platform
        await self.core.services.sessions.save(session)
        return session.id

    def offered(self) -> list[dict[str, Any]]:
        """The tool as the last request offered it."""
        return [tool for tool in self.api.conversation[-1].body["tools"] if tool["name"] == SUGGEST]

    async def all(self) -> list[Suggestion]:
        """Every suggestion."""
        return (await self.suggestions.page())[0]


Make = Callable[..., contextlib.AbstractAsyncContextManager[Place]]


@pytest.fixture
def place(api: MessagesAPI, monkeypatch: pytest.MonkeyPatch) -> Make:
    """Makes one with settings."""

    @contextlib.asynccontextmanager
    async def make(writes: bool = False, **chosen: Any) -> AsyncIterator[Place]:
        modules = Modules()
        hosts = cast(Hosts, modules)
        async with contextlib.AsyncExitStack() as stack:
            running = stack.enter_context(launcher())
            monkeypatch.setenv("HOME", str(running.folder))
            audit = Audit(running.folder / "suggestions-audit")
            database = Database(running.folder / "suggestions.db", ALL)
            stack.push_async_callback(database.close)
            await database.open()
            sessions: list[Sessions] = []

            async def origin_of(session: str) -> Origin:
                return await sessions[0].origin(session)

            own = {SETTINGS: OwnSettings(running.home)}
            suggestions = Suggestions(SuggestionStore(database), hosts, own, Events(audit), audit, origin_of)
            tools = AgentTools(hosts, suggestions, lambda session: nobody(), answered)
            made = await stack.enter_async_context(
                core(
                    running,
                    api.url,
                    tools,
                    proposing=lambda sessions: ChatSuggestions(hosts, suggestions, sessions, writes=writes),
                    **chosen,
                )
            )
            sessions.append(made.services.sessions)
            made.inbox.add(SuggestionsSource(suggestions))
            yield Place(made, suggestions, modules, api)

    return make


async def answered(session: str, module: str) -> None:
    """No module is asked."""


async def nobody() -> None:
    """No session is a module's."""


async def test_what_is_to_be_remembered_waits_in_the_inbox(place: Make) -> None:
    async with place() as here:
        answer = await here.says(CHANGE)
        (tool,) = here.offered()
        assert tool["input_schema"]["properties"]["target_module"]["enum"] == ["people"]
        forms = tool["input_schema"]["properties"]["payload"]["anyOf"]
        assert [form["description"] for form in forms] == [
            f"{each} in people" for each in ("create", "update", "delete")
        ]
        assert "something that People keep" in json.dumps(here.api.conversation[-1].body["system"])
        (found,) = await here.all()
        assert answer.result == (False, f"The suggestion {found.id} waits for the user, who decides about it.")
        assert (found.source_agent, found.source_session) == ("conversation", answer.session)
        assert (found.before, found.payload) == ({"note": "Lives in Rome."}, {"note": "Lives in Berlin."})
        assert here.modules.made == []
        (item,) = (await here.core.inbox.page()).items
        assert (item.title, item.source, item.session) == ("Update: Kevin", "conversation", answer.session)
        owner = Caller("key", "phone", FULL_ACCESS)
        await here.core.inbox.answer(item.id, item.hash, Answer("approve", "phone"), owner, is_owner=True)
        assert here.modules.made == [{"action": "update", "payload": {"note": "Lives in Berlin."}}]
        with pytest.raises(NotFound):
            await here.core.inbox.answer(item.id, item.hash, Answer("approve", "tablet"), owner, is_owner=True)


async def test_what_has_changed_since_waits_with_the_reason_and_can_be_proposed_again(place: Make) -> None:
    async with place() as here:
        await here.says(CHANGE)
        here.modules.kevin["version"] = 7
        (item,) = (await here.core.inbox.page()).items
        owner = Caller("key", "phone", FULL_ACCESS)
        with pytest.raises(Conflict):
            await here.core.inbox.answer(item.id, item.hash, Answer("approve", "phone"), owner, is_owner=True)
        (item,) = (await here.core.inbox.page()).items
        assert item.details["error"] == "Kevin has changed since."
        await here.says(CHANGE)
        assert [each.expected_version for each in await here.all()] == [7, 1]
        assert here.modules.made == []


async def test_the_owner_may_have_it_written_at_once(place: Make) -> None:
    async with place(writes=True) as here:
        answer = await here.says(CHANGE)
        assert answer.result[1].startswith("Done: update Kevin in people.")
        assert here.modules.made == [{"action": "update", "payload": {"note": "Lives in Berlin."}}]
        (found,) = await here.all()
        assert (found.status, found.resolved_by) == ("approved", f"conversation:{answer.session}")
        assert (await here.core.inbox.page()).items == ()
        assert "do it with the tool" in json.dumps(here.api.conversation[-1].body["system"])
        removal = {**CHANGE, "action": "delete", "payload": {}}
        said = await here.says(removal, session=answer.session)
        assert "waits for the user" in said.result[1]
        assert len(here.modules.made) == 1


async def test_what_cannot_be_written_waits(place: Make) -> None:
    async with place(writes=True) as here:

        async def control(method: str, what: str, document: Any, seconds: float = 0) -> Any:
            raise Conflict("Kevin has changed since.")

        here.modules.control = control  # type: ignore[method-assign]
        answer = await here.says(CHANGE)
        (found,) = await here.all()
        expected = f"Kevin has changed since. The suggestion {found.id} waits for the user instead."
        assert answer.result == (True, expected)
        assert (found.status, found.error) == ("pending", "Kevin has changed since.")


async def test_others_than_the_owner_only_propose(place: Make) -> None:
    async with place(writes=True) as here:
        await here.says(CHANGE, by_owner=False)
        sessions = here.core.services.sessions
        await here.says(ADDED, session=await here.from_outside())
        assert "never say that it is done" in json.dumps(here.api.conversation[-1].body["system"])
        found = await here.all()
        assert [each.source_agent for each in found] == ["outside/telegram", "conversation"]
        assert {each.status for each in found} == {"pending"}
        items = (await here.core.inbox.page()).items
        assert sorted(item.source for item in items) == ["conversation", "outside/telegram"]
        # A conversation of the owner's that is joined to a messenger later writes no more from then on.
        mine = await here.says(text_only := {**ADDED, "payload": {"note": "Bob"}})
        assert mine.result[1].startswith("Done")
        session = await sessions.get(mine.session)
        session.linked_bot_platform = "matrix"
        await sessions.save(session)
        await here.says({**text_only, "payload": {"note": "Eve"}}, session=mine.session)
        assert [made["payload"] for made in here.modules.made] == [{"note": "Bob"}]
        assert (await here.all())[0].source_agent == "outside/matrix"


async def test_strangers_do_not_fill_the_inbox(place: Make) -> None:
    async with place() as here:
        session = await here.from_outside()
        calls = [{**ADDED, "payload": {"note": f"{number}"}} for number in range(OUTSIDE_LIMIT + 1)]
        answer = await here.says(*calls, session=session)
        assert [each["isError"] for each in answer.of_type("tool_result")] == [*[False] * OUTSIDE_LIMIT, True]
        await here.says(ADDED)
        assert len(await here.all()) == OUTSIDE_LIMIT + 1


@pytest.mark.parametrize("mcps", ["none", ["reading"], ["read"]])
async def test_without_the_tools_of_a_module_there_is_nothing_to_propose(place: Make, mcps: Any) -> None:
    async with place(default_capabilities={"mcps": mcps}) as here:
        answer = await here.says(CHANGE)
        assert here.offered() == []
        assert "something that" not in json.dumps(here.api.conversation[-1].body["system"])
        assert answer.result[0] is True
        assert await here.all() == []


@pytest.mark.parametrize(
    ("tools", "is_offered"),
    [("[Read]", False), ("[people-find]", False), ("[people-find, suggest]", True), ("[suggest]", False)],
)
async def test_an_agent_of_the_vault_that_lists_its_tools(place: Make, tools: str, is_offered: bool) -> None:
    async with place() as here:
        agents = here.core.vault / ".agents"
        agents.mkdir(exist_ok=True)
        (agents / "helper.md").write_text(f"---\ntools: {tools}\n---\nYou help.\n")
        here.api.script(text("Yes."))
        await here.core.answered("Hello!", agent_path=".agents/helper.md")
        assert bool(here.offered()) is is_offered


HOSTILE: list[tuple[dict[str, Any], str]] = [
    ({"target_module": "reading", "target_id": None, "action": "create"}, "may not make suggestions for 'reading'"),
    ({"target_module": "settings", "target_id": None, "action": "create"}, "may not make suggestions for 'settings'"),
    ({"target_module": "journal", "target_id": None, "action": "create"}, "may not make suggestions for 'journal'"),
    ({"target_id": "para:reading:aaaaaaaaaaaa"}, "a para-id of people"),
    ({"target_id": "this"}, "this conversation, which belongs to chat"),
    ({"target_id": None}, "update needs the para-id"),
    ({"target_id": ["x"]}, "a para-id of people"),
    ({"target_id": "para:people:aaaaaaaaaaaa"}, "people knows no para:people:aaaaaaaaaaaa"),
    ({"action": "link"}, "people takes create, update, delete only"),
    ({"action": ["update"]}, "action: one of"),
    ({"payload": {}}, "payload.note: this is required"),
    ({"payload": {"note": "unwanted"}}, "this is not wanted here"),
    ({"payload": {"note": 3}}, "payload.note: string is expected"),
    ({"payload": {"note": "x", "path": "../x"}}, "payload.path: unknown field"),
    ({"payload": "Lives in Berlin."}, "an object is expected"),
    ({"payload": {"note": "x" * 65_536}}, "more than the 65,536 allowed"),
    ({"payload": {"note": "Berlin\u001b[2J"}}, "U+001B is not allowed"),
    ({"payload": {"note": "Berlin\u202egnp"}}, "U+202E is not allowed"),
    ({"payload": {"note\u0000": "x"}}, "U+0000 is not allowed"),
    ({"reasoning": "x" * 2001}, "reasoning: text of at most 2,000"),
    ({"reasoning": "\u0007"}, "U+0007 is not allowed"),
    ({"status": "approved"}, "status: unknown field"),
]


async def test_hostile_texts_change_nothing(place: Make) -> None:
    async with place(writes=True) as here:
        answer = await here.says(*({**CHANGE, **changes} for changes, _ in HOSTILE))
        results = answer.of_type("tool_result")
        assert len(results) == len(HOSTILE)
        for (_, said), result in zip(HOSTILE, results, strict=True):
            assert result["isError"], result
            assert said in result["content"]
        assert await here.all() == []
        assert here.modules.made == []


async def test_a_module_that_describes_itself_wrongly_takes_nothing(place: Make) -> None:
    async with place() as here:
        broken = AcceptedChange("people", "update", {"type": "object", "properties": 3})
        here.modules.changes = lambda: (broken,)  # type: ignore[method-assign]
        answer = await here.says(CHANGE)
        assert answer.result[0] is True
        assert await here.all() == []


async def test_the_route_of_modules_is_not_open_to_conversations(place: Make) -> None:
    async with place() as here:
        tools = here.core.services.tools
        with pytest.raises(NotAllowed):
            await tools.call_tool("suggest", CHANGE, "any")
