"""Parts of a run on their own, where a whole computer could not bring about what they have to stand."""

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, cast

import pytest

from parachute.base.clock import SYSTEM, Clock
from parachute.base.database import Database
from parachute.chat.agent_processes.client import AgentClient
from parachute.chat.agent_processes.models import AgentSpecification, ToolDecision, TurnHandler
from parachute.chat.agent_processes.options import prepare_files
from parachute.chat.agent_processes.permits import arguments_hash
from parachute.chat.runs import store
from parachute.chat.runs.events import Event, Text, TextDelta, ToolUse, TurnDone
from parachute.chat.runs.interaction import QUESTION_SECONDS, Interaction
from parachute.chat.runs.log import EventLog
from parachute.chat.runs.postponed import PostponedCalls
from parachute.chat.runs.request import TurnRequest
from parachute.chat.runs.run import Run
from parachute.chat.sessions.models import Session
from parachute.config.settings.home import Home
from parachute.events.inbox.service import Inbox
from parachute.llm.gateway.endpoint import ModelEndpoint
from parachute.llm.gateway.models import CredentialKind
from parachute.sandbox.engines.execution import Execution
from parachute.security.audit.service import Audit
from parachute.security.origin import Origin
from parachute.security.permissions.policy import Policy
from tests.chat.agent_processes.module_tools import Reading, offered
from tests.support.clock import ManualClock

SESSION = "11111111-2222-4333-8444-555555555555"
SEARCH = "mcp__parachute__reading_search"
DONE = TurnDone(SESSION, "Hello", model=None, duration_ms=1)


@pytest.fixture
async def runs(tmp_path: Path) -> AsyncIterator[store.RunStore]:
    database = Database(tmp_path / "runs.db", store.ALL, page_size=store.PAGE_SIZE)
    await database.open()
    yield store.RunStore(database)
    await database.close()


@pytest.fixture
async def run(runs: store.RunStore) -> AsyncIterator[Run]:
    session = Session(SESSION, "2026-01-01T00:00:00Z", "2026-01-01T00:00:00Z")
    request = TurnRequest(message="Hello", can_answer_permissions=True)
    log = EventLog(await runs.begin(SESSION), runs)
    yield Run(session, request, log, is_new=True)
    await log.finish()


@pytest.fixture
async def audit(tmp_path: Path) -> AsyncIterator[Audit]:
    service = Audit(tmp_path / "audit")
    service.start()
    yield service
    await service.close()


class Unknown:
    """Origins of which nobody knows anything."""

    async def lower(self, origin: Origin | None) -> None:
        """Nothing falls."""

    value = Origin.OWNER

    async def of(self, tool: str, tool_input: dict[str, Any], now: Origin) -> None:
        """Return no origin: the call brings nothing."""

    async def note_written(self, tool: str, origin: Origin) -> None:
        """Write nothing."""

    def writes_of_module(self, tool: str) -> None:
        """None does."""

    def writes_instructions(self, tool: str, tool_input: dict[str, Any]) -> bool:
        """None does."""
        return False


def interaction(
    run: Run,
    audit: Audit,
    folder: Path,
    postponed: PostponedCalls | None = None,
    tools: tuple[str, ...] = (),
    clock: Clock = SYSTEM,
) -> Interaction:
    """The handler of a direct session without trust mode, whose person answers nothing."""
    policy = Policy("direct", folder, folder / ".parachute", folder, user_home=folder, mcp_tools=tools)

    async def again() -> Policy:
        return policy

    unknown: Any = Unknown()
    later = postponed or PostponedCalls()
    return Interaction(run, policy, audit, again, Inbox(audit), later, origin=unknown, calls=unknown, clock=clock)


async def unanswered(
    run: Run, audit: Audit, folder: Path, tool_input: dict[str, Any], postponed: PostponedCalls | None = None
) -> ToolDecision:
    """Return the decision about a command that nobody answers."""
    clock = ManualClock()
    handler = interaction(run, audit, folder, postponed, clock=clock)
    return await clock.until_done(handler.decide("Bash", tool_input, "call"))


async def test_a_question_without_an_answer_goes_on_with_none(run: Run, audit: Audit, tmp_path: Path) -> None:
    clock = ManualClock()
    handler = interaction(run, audit, tmp_path, clock=clock)
    handler.tool_used("call", "AskUserQuestion", {})
    asking = asyncio.create_task(handler.ask([{"question": "Which?"}], "call"))
    await clock.advance(QUESTION_SECONDS - 1)
    assert not asking.done()
    await clock.advance(1)
    assert await asking == {}
    assert run.questions == {}
    assert json.loads(handler.answers["call"][0]) == {"answers": {}}


async def test_a_permission_without_an_answer_is_denied(run: Run, audit: Audit, tmp_path: Path) -> None:
    decision = await unanswered(run, audit, tmp_path, {"command": "touch x"})
    assert decision.allowed is False
    assert run.permissions == {}


async def test_a_call_that_nobody_was_there_for_may_be_allowed_and_is_made_once(
    run: Run, audit: Audit, tmp_path: Path
) -> None:
    postponed = PostponedCalls()
    command = {"command": "touch x"}

    async def decided(tool_input: dict[str, Any]) -> bool | None:
        return (await unanswered(run, audit, tmp_path, tool_input, postponed)).allowed

    assert await decided(command) is False
    (first,) = postponed.items()
    assert await decided(command) is False
    (item,) = postponed.items()
    assert item.hash == first.hash, "asked for again it is the same"
    assert (item.kind, item.title, item.is_owners) == (
        "permission",
        "Bash: touch x",
        run.session.trust_level == "direct",
    )
    postponed.answer(item.key, allow=True)
    assert postponed.items() == []
    assert await decided({"command": "touch y"}) is False
    assert await decided(command) is True
    assert await decided(command) is False
    for each in postponed.items():
        postponed.answer(each.key, allow=False)
    assert await decided(command) is False
    postponed.forget(run.session.id)
    assert postponed.items() == []


async def test_only_so_many_calls_of_a_conversation_wait(run: Run, audit: Audit, tmp_path: Path) -> None:
    postponed = PostponedCalls()
    for number in range(30):
        decision = await unanswered(run, audit, tmp_path, {"command": f"touch {number}"}, postponed)
        assert decision.allowed is False
    assert "Too many calls wait" in decision.reason
    assert len(postponed.items()) == 10


async def test_a_refusal_is_recorded_without_what_looks_like_a_secret(run: Run, audit: Audit, tmp_path: Path) -> None:
    command = "curl -H 'Authorization: Bearer abcdefgh12345' https://example.org\nls"
    assert (await unanswered(run, audit, tmp_path, {"command": command})).allowed is False
    await audit.written()
    (path,) = (tmp_path / "audit").iterdir()
    written = path.read_text()
    assert '"success": false' in written
    assert "abcdefgh12345" not in written


async def test_card_result_and_record_of_a_call_are_what_the_server_made_of_it(
    run: Run, audit: Audit, tmp_path: Path
) -> None:
    handler = interaction(run, audit, tmp_path, tools=(SEARCH,))
    handler.records.know([offered("reading_search")])
    handler.tool_used("call", SEARCH, {"query": "harmless"})
    assert (await handler.decide(SEARCH, {"query": "judged"}, "call")).allowed
    # What is forged in the program's name: another call of that id, and a result before there is one.
    handler.tool_used("call", SEARCH, {"query": "harmless"})
    handler.records.reported("call", is_error=False)
    handler.tool_made("call", ("No such book.", True))
    assert handler.result_of("call", ("Found: harmless", False)) == ("No such book.", True)
    run.log.append(DONE)
    cards = [event.tool.input async for _, event in run.log.read() if isinstance(event, ToolUse)]
    assert cards == [{"query": "judged"}]
    await audit.written()
    (path,) = (tmp_path / "audit").iterdir()
    (record,) = map(json.loads, path.read_text().splitlines())
    assert (record["success"], record["arguments"]) == (False, arguments_hash({"query": "judged"}))


@pytest.mark.parametrize(
    "tool_input", [{}, {"command": 5}, {"command": "a\0b"}, {"command": "\ud800"}, {"command": "((" * 5000}]
)
async def test_what_cannot_be_judged_is_denied(
    run: Run, audit: Audit, tmp_path: Path, tool_input: dict[str, Any]
) -> None:
    decision = await unanswered(run, audit, tmp_path, tool_input)
    assert decision.allowed is False


class Raising:
    """A turn whose rules are broken."""

    async def decide(self, tool: str, tool_input: dict[str, Any], call: str | None) -> ToolDecision:
        """Fail."""
        raise RuntimeError("broken")

    async def ask(self, questions: list[dict[str, Any]], call: str | None) -> dict[str, Any]:
        """Fail."""
        raise RuntimeError("broken")


async def test_rules_that_raise_or_are_absent_allow_nothing(tmp_path: Path) -> None:
    execution = Execution("direct", None, tmp_path / "a.sock", "m.sock", str(tmp_path), str(tmp_path), {}, ("/",))
    endpoint = ModelEndpoint(SESSION, tmp_path, CredentialKind.API_KEY, "token")
    specification = AgentSpecification(SESSION, False, execution, endpoint, "prompt", ("Bash",), None, True)
    home = Home(tmp_path / "home")
    home.root.mkdir()
    client = AgentClient(specification, prepare_files(home), Reading())
    call = {"tool_name": "Bash", "tool_input": {"command": "true"}}
    answer = await client._pre_tool_use(call, "call", None)
    assert answer["hookSpecificOutput"]["permissionDecision"] == "deny"
    client.handler = cast(TurnHandler, Raising())
    answer = await client._pre_tool_use(call, "call", None)
    assert answer["hookSpecificOutput"]["permissionDecision"] == "deny"


async def test_readers_and_the_disk_get_everything(run: Run, runs: store.RunStore) -> None:
    reading = asyncio.create_task(_read(run.log))
    for number in range(2000):
        run.log.append(TextDelta(f"{number} "))
        if number % 100 == 0:
            await asyncio.sleep(0)
    run.log.append(DONE)
    run.log.append(TextDelta("after the end"))
    await run.log.finish()
    said = "".join(f"{number} " for number in range(2000))
    events = await reading
    assert [event for _, event in events[-2:]] == [Text(said), DONE]
    stored = await runs.events(run.log.run)
    assert "".join(event.text for _, event in stored if isinstance(event, TextDelta)) == said
    assert stored[-1] == (2001, DONE)


async def test_readers_of_pieces_get_each_once(run: Run) -> None:
    from_the_start = asyncio.create_task(_pieces(run.log))
    for number in range(500):
        run.log.append(TextDelta(f"{number} "))
        await asyncio.sleep(0)
    come_back = asyncio.create_task(_pieces(run.log, after=200))
    for number in range(500, 1000):
        run.log.append(TextDelta(f"{number} "))
    run.log.append(DONE)
    await run.log.finish()
    assert await from_the_start == "".join(f"{number} " for number in range(1000))
    assert await come_back == "".join(f"{number} " for number in range(200, 1000))


async def _pieces(log: EventLog, after: int = 0) -> str:
    events = [event async for _, event in log.read(after, as_deltas=True)]
    assert events.pop() == DONE
    return "".join(event.text for event in events if isinstance(event, TextDelta))


async def test_an_end_while_a_batch_is_written_loses_nothing(runs: store.RunStore) -> None:
    for _ in range(20):
        log = EventLog(await runs.begin(SESSION), runs)
        log.append(TextDelta("a"))
        writing = asyncio.create_task(log.flush())
        await asyncio.sleep(0)
        log.append(DONE)
        await asyncio.gather(writing, log.finish())
        assert [event for _, event in await runs.events(log.run)] == [TextDelta("a"), DONE]


async def _read(log: EventLog) -> list[tuple[int, Event]]:
    return [entry async for entry in log.read()]
