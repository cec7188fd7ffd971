"""Tools of modules that an agent gets, and the part that its program can have."""

import asyncio
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from parachute.chat.agent_processes.models import AgentSpecification
from parachute.chat.agent_processes.permits import Answer
from parachute.chat.agent_processes.tools import CALL_SECONDS, ToolServer, permitted
from parachute.llm.gateway.endpoint import ModelEndpoint
from parachute.llm.gateway.models import CredentialKind
from parachute.modules.runtime.models import OfferedTool
from parachute.sandbox.engines.execution import Execution
from tests.chat.agent_processes.module_tools import BOOKS, Reading, offered
from tests.support.clock import ManualClock

SHOWN = "mcp__parachute__reading_search"


def names(*offer: OfferedTool, listed: tuple[str, ...] | None = None) -> list[str]:
    """The names of those that are permitted."""
    return [tool.name for tool in permitted(offer, listed)]


def test_a_list_of_tools() -> None:
    for listed, expected in (
        (None, ["Read", "brain_add", "brain_search", "reading"]),
        ((), []),
        (("brain_search",), ["brain_search"]),
        (("mcp__parachute__brain_search",), ["brain_search"]),
        (("brain_*",), ["brain_add", "brain_search"]),
        (("mcp__parachute__brain_*",), ["brain_add", "brain_search"]),
        (("mcp__parachute",), ["Read", "brain_add", "brain_search", "reading"]),
        (("mcp__parachute__*",), ["Read", "brain_add", "brain_search", "reading"]),
        (("Read", "Bash", "brain"), []),
        (("mcp__parachute__Read",), ["Read"]),
        (("mcp__brain", "mcp__brain__*", "mcp__*"), []),
    ):
        offer = [offered(name) for name in ("reading", "brain_search", "Read", "brain_add")]
        assert names(*offer, listed=listed) == expected


def test_what_the_models_service_refuses_is_not_offered() -> None:
    for tool in (
        offered("a b"),
        offered("a" * 65),
        offered(""),
        offered("a", {"type": "string"}),
        offered("a", {"properties": {}}),
        offered("a", {"type": "object", "oneOf": [{}]}),
        offered("a", {"type": "object", "properties": []}),
        offered("a", {"type": "object", "properties": {"größe": {}}}),
        offered("a", {"type": "object", "properties": {"x": {"default": float("nan")}}}),
        offered("a", {"type": "object", "description": "x" * 70_000}),
    ):
        assert names(tool, offered("b")) == ["b"]


def test_of_two_with_one_name_there_is_one() -> None:
    assert names(offered("a"), offered("a", description="Another")) == ["a"]


def test_the_fingerprint_follows_the_tools(tmp_path: Path) -> None:
    execution = Execution("direct", None, tmp_path / "a.sock", "m.sock", str(tmp_path), str(tmp_path), {}, ("/",))
    endpoint = ModelEndpoint("one", tmp_path, CredentialKind.API_KEY, "token")
    plain = AgentSpecification("one", False, execution, endpoint, "prompt", ("Read",), None, True)
    search = offered("reading_search")
    variants = [
        (),
        (search,),
        (replace(search, name="reading_find"),),
        (replace(search, description="Other"),),
        (replace(search, input_schema={"type": "object", "properties": {}}),),
        (search, offered("reading_add")),
    ]
    assert len({replace(plain, module_tools=tools).fingerprint() for tools in variants}) == len(variants)
    again = OfferedTool("reading", "reading_search", "Find books", dict(BOOKS))
    assert replace(plain, module_tools=(again,)).fingerprint() == replace(plain, module_tools=(search,)).fingerprint()


@pytest.fixture
def reading() -> Reading:
    return Reading("reading_search", "hang")


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
async def server(reading: Reading, clock: ManualClock) -> AsyncIterator[ToolServer]:
    """The server of one agent."""
    made = ToolServer("one", reading.tools(), reading, clock)
    yield made
    await made.close()


def permit(
    server: ToolServer, shown: str, made: list[Answer] | None = None, *, at_once: bool = False, **given: Any
) -> None:
    """Permit one call with these arguments; `made` gets what was answered."""
    server.permit(shown, given, (made if made is not None else []).append, at_once=at_once)


async def test_a_call_runs_once_for_each_decision(server: ToolServer, reading: Reading) -> None:
    text, is_error = await server.answer("reading_search", {"query": "x"})
    assert is_error
    assert "not allowed" in text
    permit(server, "mcp__parachute__hang")
    permit(server, "reading_search", query="x")
    assert (await server.answer("reading_search", {"query": "x"}))[1] is True
    permit(server, SHOWN, query="x")
    assert await server.answer("reading_search", {"query": "x"}) == ("Found: x", False)
    assert (await server.answer("reading_search", {"query": "x"}))[1] is True
    permit(server, SHOWN, query="x")
    server.end_turn()
    assert (await server.answer("reading_search", {"query": "x"}))[1] is True
    assert len(reading.calls) == 1


async def test_a_permit_is_for_the_arguments_that_were_judged(server: ToolServer, reading: Reading) -> None:
    judged: dict[str, Any] = {"query": "x", "options": {"b": 1, "a": ["ä"]}}
    forged = {**judged, "query": "forged"}
    for _ in range(2):
        permit(server, SHOWN, **judged)
    for arguments in (forged, {}, {**judged, "more": 1}, {**judged, "options": {"b": True, "a": ["ä"]}}):
        assert (await server.answer("reading_search", arguments))[1] is True
    assert reading.calls == []
    turned = {"options": {"a": ["ä"], "b": 1}, "query": "x"}
    both = [await server.answer("reading_search", each) for each in (turned, judged)]
    assert both == [("Found: x", False)] * 2
    assert [arguments for _, arguments, _ in reading.calls] == [judged, judged]
    assert (await server.answer("reading_search", judged))[1] is True


async def test_what_the_owner_was_shown_is_made_whatever_the_program_sends(
    server: ToolServer, reading: Reading
) -> None:
    made: list[Answer] = []
    permit(server, SHOWN, made, at_once=True, query="x")
    assert (await server.answer("reading_search", {"query": "forged"}))[1] is True
    assert await server.answer("reading_search", {"query": "x"}) == ("Found: x", False)
    assert (await server.answer("reading_search", {"query": "x"}))[1] is True
    assert ([arguments for _, arguments, _ in reading.calls], made) == ([{"query": "x"}], [("Found: x", False)])


async def test_a_tool_of_another_session_does_not_exist(reading: Reading) -> None:
    server = ToolServer("one", (), reading)
    permit(server, SHOWN, query="x")
    assert await server.answer("reading_search", {"query": "x"}) == ("There is no tool 'reading_search'.", True)
    assert server.configuration() == {}
    assert reading.calls == []


async def test_the_end_of_a_turn_stops_what_runs(server: ToolServer, reading: Reading) -> None:
    permit(server, "mcp__parachute__hang")
    call = asyncio.create_task(server.answer("hang", {}))
    await reading.hanging.wait()
    server.end_turn()
    assert await call == ("The tool hang was stopped.", True)
    assert reading.stopped.is_set()


async def test_a_caller_that_leaves_stops_its_call(server: ToolServer, reading: Reading) -> None:
    permit(server, "mcp__parachute__hang")
    call = asyncio.create_task(server.answer("hang", {}))
    await reading.hanging.wait()
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    await reading.stopped.wait()


async def test_a_tool_that_takes_too_long(server: ToolServer, reading: Reading, clock: ManualClock) -> None:
    permit(server, "mcp__parachute__hang")
    call = asyncio.create_task(server.answer("hang", {}))
    await clock.advance(CALL_SECONDS - 1)
    assert not call.done()
    await clock.advance(1)
    text, is_error = await call
    assert is_error
    assert "did not answer" in text
    await reading.stopped.wait()


async def test_an_agent_cannot_have_any_number_of_calls_at_work(server: ToolServer, reading: Reading) -> None:
    for _ in range(9):
        permit(server, "mcp__parachute__hang")
    calls = {asyncio.create_task(server.answer("hang", {})) for _ in range(9)}
    done, waiting = await asyncio.wait(calls, return_when=asyncio.FIRST_COMPLETED)
    (refused,) = done
    assert refused.result() == ("8 tools are running already. Wait for their results.", True)
    assert len(waiting) == 8
    await server.close()
    assert {call.result() for call in waiting} == {("The tool hang was stopped.", True)}


async def test_half_characters_do_not_break_the_answer(server: ToolServer, reading: Reading) -> None:
    reading.answers["reading_search"] = "a\ud800b"
    permit(server, SHOWN, query="x")
    assert await server.answer("reading_search", {"query": "x"}) == ("a?b", False)


@pytest.mark.long
def test_the_sdk_is_not_imported_before_it_is_needed() -> None:
    program = (
        "import sys, parachute.server.app; print([name for name in ('claude_agent_sdk', 'mcp') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
