"""Tools of modules in whole turns: the real agent program in its sandbox, and a scripted model."""

import asyncio

import pytest

from parachute.chat.sessions.models import Session
from tests.chat.agent_processes.conftest import MakeCore
from tests.chat.agent_processes.core import Core
from tests.chat.agent_processes.module_tools import BOOKS, DOWN, Reading, offered
from tests.contract.models import check_stream
from tests.support.messages_api import MessagesAPI, text, tool_use

pytestmark = pytest.mark.long

SEARCH = "mcp__parachute__reading_search"
HANG = "mcp__parachute__hang"
MOMO = {"query": "Momo"}
SECONDS = 60


def module_tools(api: MessagesAPI, request: int = -1) -> list[str]:
    """The names of tools of servers that the model was told in a request."""
    return [tool["name"] for tool in api.conversation[request].body["tools"] if tool["name"].startswith("mcp__")]


async def test_the_model_sees_a_tool_calls_it_and_gets_its_result(make_core: MakeCore, api: MessagesAPI) -> None:
    reading = Reading("reading_search")
    core = await make_core(reading)
    api.script(tool_use(SEARCH, MOMO), text("Done."))
    answer = await core.answered()
    (shown,) = [tool for tool in api.conversation[0].body["tools"] if tool["name"] == SEARCH]
    assert (shown["description"], shown["input_schema"]) == ("Find books", BOOKS)
    assert reading.calls == [("reading_search", MOMO, answer.session)]
    assert "Found: Momo" in str(api.conversation[1].body["messages"][-1])
    (used,) = answer.of_type("tool_use")
    assert (used["tool"]["name"], used["tool"]["input"]) == (SEARCH, MOMO)
    assert answer.result == (False, "Found: Momo")
    assert (answer.text, answer.end["type"]) == ("Done.", "done")
    assert SEARCH in answer.of_type("init")[0]["tools"]
    check_stream(answer.events)
    assert f'"target_endpoint":"{SEARCH}"' in (await core.audited()).replace('": "', '":"')


async def test_a_tool_without_arguments(make_core: MakeCore, api: MessagesAPI) -> None:
    reading = Reading()
    reading.offer = [offered("reading_all", {"type": "object"})]
    reading.answers["reading_all"] = "Momo, Krabat"
    core = await make_core(reading)
    api.script(tool_use("mcp__parachute__reading_all", {}), text("Done."))
    assert (await core.answered()).result == (False, "Momo, Krabat")
    (shown,) = [tool for tool in api.conversation[0].body["tools"] if tool["name"].startswith("mcp__")]
    assert shown["input_schema"] == {"type": "object", "properties": {}}


async def test_a_tool_that_fails_is_an_error_and_the_turn_goes_on(make_core: MakeCore, api: MessagesAPI) -> None:
    reading = Reading("reading_search", "reading_down", "reading_broken")
    reading.answers |= {"reading_down": DOWN, "reading_broken": RuntimeError("a private detail")}
    core = await make_core(reading)
    said = []
    for name, arguments in (("search", {"words": 1}), ("down", MOMO), ("broken", MOMO)):
        api.script(tool_use(f"mcp__parachute__reading_{name}", arguments), text(f"After {name}."))
        answer = await core.answered()
        is_error, content = answer.result
        assert is_error
        assert answer.text == f"After {name}."
        said.append(content)
    assert said[:2] == ["query: this is required (text).", str(DOWN)]
    assert "fault in the computer itself" in said[2]
    assert "a private detail" not in str([request.body for request in api.conversation])


async def test_long_and_empty_results(make_core: MakeCore, api: MessagesAPI) -> None:
    reading = Reading("reading_long", "reading_empty")
    reading.answers |= {"reading_long": "b" * 300_000, "reading_empty": ""}
    core = await make_core(reading)
    api.script(tool_use("mcp__parachute__reading_long", MOMO), text("Done."))
    answer = await core.answered()
    is_error, content = answer.result
    assert not is_error
    assert (content.count("b" * 200_000), content.count("b" * 200_001)) == (1, 0)
    assert content.endswith("[The result has 300,000 characters and was cut after 200,000.]")
    assert content in api.conversation[1].body["messages"][-1]["content"][0]["content"][0]["text"]
    api.script(tool_use("mcp__parachute__reading_empty", MOMO), text("Done."))
    assert (await core.answered(session=answer.session)).end["type"] == "done"


AGENTS = {
    "searcher": (["Read", "reading_*"], ["Read", SEARCH]),
    "finder": (["reading_search"], [SEARCH]),
    "reader": (["Read"], ["Read"]),
    "other": (["mcp__brain", "mcp__parachute__brain_*"], []),
}


@pytest.mark.parametrize("name", AGENTS)
async def test_an_agent_gets_the_tools_that_its_file_names(make_core: MakeCore, api: MessagesAPI, name: str) -> None:
    listed, expected = AGENTS[name]
    reading = Reading("reading_search", "brain_search")
    if "mcp__parachute__brain_*" in listed:
        reading = Reading("reading_search")
    core = await make_core(reading)
    (core.vault / "agent.md").write_text(f"---\ntools: [{', '.join(listed)}]\n---\nYou are an agent.\n")
    api.script(tool_use("mcp__parachute__brain_search", MOMO), text("I cannot."))
    answer = await core.answered(agent_path="agent.md")
    assert [tool["name"] for tool in api.conversation[0].body.get("tools", [])] == expected
    assert answer.result[0] is True
    assert answer.text == "I cannot."
    assert reading.calls == []


async def test_in_a_direct_session_nobody_is_asked(make_core: MakeCore, api: MessagesAPI) -> None:
    core = await make_core(Reading("reading_search"), trust_mode=False)
    api.script(tool_use(SEARCH, MOMO), text("Done."))
    answer = await core.answered(trust_level="direct", can_answer_permissions=True)
    assert answer.result == (False, "Found: Momo")
    assert not answer.of_type("permission_request")


async def test_stopping_while_a_tool_hangs(make_core: MakeCore, api: MessagesAPI) -> None:
    reading = Reading("hang", "reading_search")
    core = await make_core(reading)
    api.script(tool_use(HANG, MOMO))
    run = await core.begin()
    await asyncio.wait_for(reading.hanging.wait(), SECONDS)
    await core.runs.abort(run.session.id)
    await asyncio.wait_for(reading.stopped.wait(), SECONDS)
    assert (await core.finished(run)).end["type"] == "aborted"
    api.script(tool_use(SEARCH, MOMO), text("Again."))
    again = await core.answered("Go on.", run.session.id)
    assert (again.result, again.text) == ((False, "Found: Momo"), "Again.")


async def test_a_tool_that_hangs_holds_up_nobody_else(make_core: MakeCore, api: MessagesAPI) -> None:
    reading = Reading("hang", "reading_search")
    core = await make_core(reading)
    api.script(tool_use(HANG, MOMO))
    hanging = await core.begin()
    await asyncio.wait_for(reading.hanging.wait(), SECONDS)
    api.script(tool_use(SEARCH, MOMO), text("Done."))
    assert (await core.answered()).result == (False, "Found: Momo")
    assert not reading.stopped.is_set()
    await core.runs.close()  # as core does when it ends
    assert reading.stopped.is_set()
    assert (await core.finished(hanging)).end["type"] == "aborted"


async def test_another_set_of_tools_is_there_in_the_next_turn(make_core: MakeCore, api: MessagesAPI) -> None:
    reading = Reading("reading_search")
    core = await make_core(reading)
    api.default(text("Yes."))
    session = (await core.answered("One.")).session
    assert (await core.answered("Two.", session)).end["sessionResume"]["cacheHit"] is True
    reading.offer.append(offered("reading_add"))
    resume = (await core.answered("Three.", session)).end["sessionResume"]
    assert (resume["cacheHit"], resume["sdkSessionValid"]) == (False, True)
    assert module_tools(api) == ["mcp__parachute__reading_add", SEARCH]
    assert all(word in str(api.conversation[-1].body["messages"]) for word in ("One.", "Two.", "Three."))
    reading.offer.clear()
    await core.answered("Four.", session)
    assert module_tools(api) == []


async def test_a_tool_that_goes_away_during_a_turn(make_core: MakeCore, api: MessagesAPI) -> None:
    reading = Reading("reading_search")
    core = await make_core(reading)

    def removed(_: object) -> object:
        reading.offer.clear()
        return tool_use(SEARCH, MOMO)

    api.script(removed, text("It no longer exists."))  # type: ignore[arg-type]
    answer = await core.answered()
    assert answer.result == (True, "There is no tool 'reading_search'.")
    assert answer.text == "It no longer exists."


async def specification_of(core: Core) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
    """(the program's tools, tools of modules, what the policy knows of servers) of a new chat."""
    session = Session("11111111-2222-4333-8444-555555555555", "2026-01-01T00:00:00Z", "2026-01-01T00:00:00Z")
    prepared = await core.preparation.prepare(session, None, None, resume=False)
    names = tuple(tool.name for tool in prepared.specification.module_tools)
    return prepared.specification.tools, names, prepared.policy.mcp_tools


async def test_the_small_model_gets_no_tools(make_core: MakeCore) -> None:
    core = await make_core(Reading("reading_search"), provider="offline")
    assert await specification_of(core) == ((), (), ())
