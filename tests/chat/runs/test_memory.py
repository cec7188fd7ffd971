"""All sandboxes together keep a bound of memory: those that wait go, those that work stay."""

import asyncio

import pytest

from parachute.supervisor import control
from parachute.supervisor.units import agent_socket
from tests.chat.runs.answers import answered, ended, session_of
from tests.chat.runs.processes import agent_of, agents
from tests.support.making import Make
from tests.support.messages_api import Gate, MessagesAPI, hold, several, text
from tests.support.server import Server
from tests.support.sse import chat

pytestmark = pytest.mark.long


async def held(server: Server) -> dict[str, int]:
    """Bytes of memory by session, as the supervisor counts them."""
    counted = (await control.ask(server.home, "memory"))["bytes"]
    return {name.removeprefix("sandbox@"): size for name, size in counted.items()}


async def test_over_the_bound_the_one_that_is_idle_for_longest_ends(
    make_server: Make[Server], api: MessagesAPI
) -> None:
    api.default(text("Yes."))
    server = make_server(real_agents=True)
    async with server.client() as client:
        session = session_of(await answered(client, "How large are you?"))
    size = (await held(server))[session] >> 20
    assert size > 50
    server = make_server(real_agents=True, sandbox={"total_memory_megabytes": size * 5 // 2})
    async with server.client() as client:
        sessions = [session_of(await answered(client, f"Chat {number}.")) for number in range(2)]
        # Used again, it is not the one that is idle for longest any more.
        await answered(client, "Again.", sessions[0])
        assert (await held(server)).keys() == set(sessions)
        sessions.append(session_of(await answered(client, "Chat 2.")))
        await server.programs.happens(lambda: len(agents(server)) == 2, "one has ended")
        assert {agent_of(server, session) for session in (sessions[0], sessions[2])} == set(agents(server))
        await server.programs.happens(
            lambda: not agent_socket(server.home, sessions[1]).exists(), "its sandbox as well"
        )
        assert (await held(server)).keys() == {sessions[0], sessions[2]}
        assert (await answered(client, "Still there?", sessions[1])).text == "Yes."


async def test_a_turn_is_never_ended_for_memory_and_no_other_one_begins(
    make_server: Make[Server], api: MessagesAPI
) -> None:
    server = make_server(real_agents=True, sandbox={"total_memory_megabytes": 64})
    gate = Gate()
    api.default(text("Yes."))
    api.script(several(text("Half."), hold(gate), text(" Whole.")))
    async with server.client() as client, chat(client, "Work for long.") as working:
        await working.until("text")
        agent = agent_of(server, session_of(working))
        refused = await answered(client, "May I?")
        assert ended(refused)["type"] == "typed_error"
        assert "sandbox.total_memory_megabytes" in str(ended(refused))
        assert agent.is_running()
        gate.open()
        await working.collect()
        assert ended(working)["type"] == "done"
        await server.programs.happens(lambda: not agents(server), "it is not kept")
        assert (await answered(client, "May I now?", session_of(refused))).text == "Yes."


async def test_what_runs_directly_is_not_counted(make_server: Make[Server], api: MessagesAPI) -> None:
    server = make_server(real_agents=True, sandbox={"total_memory_megabytes": 64})
    api.default(text("Yes."))
    async with server.client() as client:
        session = session_of(await answered(client, "Hello!", trustLevel="direct"))
        agent = agent_of(server, session)
        await asyncio.gather(*(answered(client, f"Chat {number}.", trustLevel="direct") for number in range(2)))
        assert await held(server) == {}
        assert agent_of(server, session) == agent
