"""Sessions that modules make: nobody else goes on with them, whatever the vault says."""

import asyncio
import contextlib

import pytest

from parachute.base.errors import Conflict, NotFound, ParachuteError
from parachute.chat.runs.events import Aborted
from tests.automation.module_agents.conftest import MakePlace, Place
from tests.supervisor.launching import with_argument
from tests.support.errors import raises
from tests.support.messages_api import Gate, MessagesAPI, hold, text, tool_use
from tests.support.waiting import until

pytestmark = pytest.mark.long

AGENTS = {"reader": {"capabilities": ["read"]}, "writer": {"capabilities": ["write"]}}


async def test_the_module_goes_on_with_its_session_at_once(place: Place, api: MessagesAPI) -> None:
    module = place.module(agents=AGENTS)
    api.script(text("one"), text("two"))
    session = ""
    async for event in place.agents.query(module, message="first", agent="reader"):
        if event["type"] == "session":
            session = event["sessionId"]
        if event["type"] == "done":
            # From within the loop: whatever the last event promised has to be true when it arrives.
            events = await place.events(module, "second", agent="reader", session_id=session)
            assert events[-1]["type"] == "done", events
    said = str(api.conversation[-1].body["messages"])
    assert [word in said for word in ("first", "one", "second")] == [True] * 3
    assert [event["seq"] for event in events] == sorted({event["seq"] for event in events})


async def test_nobody_else_goes_on_with_it(place: Place, api: MessagesAPI) -> None:
    sessions = place.core.services.sessions
    module, other = place.module(agents=AGENTS), place.module("other", agents=AGENTS)
    api.script(text("one"))
    session = (await place.events(module, agent="reader"))[0]["sessionId"]
    api.script(text("of a person"))
    persons = (await place.core.answered("Hello!")).session
    asked = len(api.requests)
    for who, agent, identifier in (
        (other, "reader", session),
        (module, "writer", session),
        (module, None, session),
        (module, "reader", persons),
        (module, "reader", "11111111-1111-4111-8111-111111111111"),
        (module, "reader", "../x"),
    ):
        with pytest.raises(NotFound) as refused:
            await place.events(who, agent=agent, session_id=identifier)
        assert refused.value.message == f"There is no session {identifier!r}."
        assert refused.value.key == "session_not_found"
    for mend in (None, "label"):
        if mend:  # an agent that can write the vault's database cannot take it over either
            found = await sessions.get(session)
            found.metadata.clear()
            await sessions.save(found)
        with pytest.raises(Conflict) as conflict:
            await place.core.begin("Hello!", session)
        assert conflict.value.key == "module_session"
        assert "letters" in conflict.value.message
        with pytest.raises(Conflict):
            await sessions.configure(session, {"trustLevel": "direct"}, approved_by="owner", admin=True)
    assert len(api.requests) == asked
    assert (await sessions.get(session)).trust_level == "sandboxed"


async def test_in_a_vault_from_another_machine_the_session_belongs_to_nobody(place: Place, api: MessagesAPI) -> None:
    module = place.module(agents=AGENTS)
    api.script(text("one"))
    session = (await place.events(module, agent="reader"))[0]["sessionId"]
    await place.core.services.sessions._trust.forget(session)
    with pytest.raises(NotFound):
        await place.events(module, agent="reader", session_id=session)
    with pytest.raises(Conflict) as refused:
        await place.core.begin("Hello!", session)
    assert refused.value.key == "module_session"


async def test_a_label_in_the_vault_makes_no_session_a_modules(place: Place, api: MessagesAPI) -> None:
    api.script(text("a secret"))
    session = (await place.core.answered("Hello!")).session
    found = await place.core.services.sessions.get(session)
    found.metadata["module"] = "letters"
    await place.core.services.sessions.save(found)
    with pytest.raises(NotFound):
        await place.events(place.module(agents=AGENTS), session_id=session)


async def test_a_deleted_session_is_gone_for_its_module(place: Place, api: MessagesAPI) -> None:
    module = place.module(agents=AGENTS)
    api.script(text("one"))
    session = (await place.events(module, agent="reader"))[0]["sessionId"]
    await place.core.runs.delete(session)
    with pytest.raises(NotFound):
        await place.events(module, agent="reader", session_id=session)


async def test_closing_the_iterator_stops_the_agent(place: Place, api: MessagesAPI) -> None:
    module = place.module(agents={"reader": {"bash": True}})
    api.script(tool_use("Bash", {"command": "sleep 4715"}))
    session = ""
    async with contextlib.aclosing(place.agents.query(module, message="Go!", agent="reader")) as events:
        async for event in events:
            session = event.get("sessionId", session)
            if event["type"] == "tool_use":
                break
    assert place.core.runs.active() == []
    # A namespace whose first process was killed takes a moment to end the others.
    await until(lambda: with_argument("4715") == [], "the command of the agent has ended")
    units = (await place.launcher.ask("status"))["units"]
    assert f"sandbox@{session}" not in [unit["name"] for unit in units]
    followed = [event async for _, event in await place.core.runs.follow(session, 0)]
    assert isinstance(followed[-1], Aborted)


async def test_a_reader_that_is_cancelled_stops_the_agent(place: Place, api: MessagesAPI) -> None:
    module = place.module(agents=AGENTS)
    gate = Gate()
    api.script(hold(gate, text("late")))
    running = asyncio.create_task(place.agents.run_agent(module, "reader", "Go!"))
    await api.happens(lambda: len(api.conversation) == 1, "a request has come")
    (session,) = place.core.runs.active()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert place.core.runs.active() == []
    assert (await place.core.services.sessions.get(session)).title == "Go!"


async def test_only_so_many_runs_at_a_time(place: Place, api: MessagesAPI) -> None:
    module = place.module(agents=AGENTS)
    gate = Gate()
    api.default(hold(gate, text("done")))
    running = [asyncio.create_task(place.agents.run_agent(module, "reader", "Go!")) for _ in range(4)]
    await api.happens(lambda: len(api.conversation) == 4, "4 requests have come")
    with pytest.raises(ParachuteError) as full:
        await place.agents.run_agent(module, "reader", "Go!")
    assert (full.value.status, full.value.key) == (429, "queue_full")
    other = asyncio.create_task(place.agents.run_agent(place.module("other", agents=AGENTS), "reader", "Go!"))
    await api.happens(lambda: len(api.conversation) == 5, "5 requests have come")
    gate.open()
    assert await asyncio.gather(*running, other) == ["done"] * 5
    assert await place.agents.run_agent(module, "reader", "Go!") == "done"


async def test_a_module_that_is_disabled_has_its_runs_ended(place: Place, api: MessagesAPI) -> None:
    module, other = place.module(agents=AGENTS), place.module("other", agents=AGENTS)
    gate = Gate()
    api.default(hold(gate, text("done")))
    running = [asyncio.create_task(place.agents.run_agent(module, "reader", "Go!")) for _ in range(2)]
    kept = asyncio.create_task(place.agents.run_agent(other, "reader", "Go!"))
    await api.happens(lambda: len(api.conversation) == 3, "3 requests have come")
    await place.agents.close_module("letters")
    assert len(place.core.runs.active()) == 1
    for ended in await asyncio.gather(*running, return_exceptions=True):
        assert isinstance(ended, Conflict)
        assert ended.key == "aborted"
    gate.open()
    assert await kept == "done"


async def test_an_agent_that_takes_too_long_is_stopped(make_place: MakePlace, api: MessagesAPI) -> None:
    place = await make_place(seconds=3.0)
    gate = Gate()
    api.script(hold(gate, text("late")))
    with raises("service_error", names="took too long"):
        await place.agents.run_agent(place.module(agents=AGENTS), "reader", "Go!")
    assert place.core.runs.active() == []


async def test_a_person_puts_no_message_into_a_modules_run(place: Place, api: MessagesAPI) -> None:
    module = place.module(agents=AGENTS)
    gate = Gate()
    api.script(hold(gate, text("done")))
    running = asyncio.create_task(place.agents.run_agent(module, "reader", "Go!"))
    await api.happens(lambda: len(api.conversation) == 1, "a request has come")
    (session,) = place.core.runs.active()
    with pytest.raises(Conflict) as refused:
        await place.core.runs.inject(session, "Do something else!")
    assert refused.value.key == "module_session"
    gate.open()
    assert await running == "done"


async def test_a_command_of_a_module_is_only_text(place: Place, api: MessagesAPI) -> None:
    api.script(text("What?"))
    assert await place.agents.run_agent(place.module(agents=AGENTS), "reader", "/compact now") == "What?"
    assert "/compact now" in str(api.conversation[0].body["messages"])
