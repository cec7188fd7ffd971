"""Processes that die in the middle of an answer."""

import asyncio
import json
import os
import signal

import pytest

from tests.chat.runs.answers import answered, ended, events_after, session_of
from tests.chat.runs.conftest import forgetful
from tests.chat.runs.processes import agent_of, agents
from tests.support.computer import Computer, command_line
from tests.support.installation import AGENTS, Installation
from tests.support.making import Make
from tests.support.messages_api import Gate, MessagesAPI, hold, several, text
from tests.support.server import Server
from tests.support.sse import chat, text_of
from tests.support.waiting import until

pytestmark = pytest.mark.long

HALF = "Half of the answer. "


@pytest.fixture
def server(make_server: Make[Server]) -> Server:
    """A server whose agents are real."""
    return forgetful(make_server(real_agents=True))


def stored_text(server: Installation) -> str:
    """All texts in the log of runs, as they lie on the disk."""
    files = sorted((server.vault / ".parachute" / "runs").glob("*.jsonl"), key=lambda path: int(path.stem))
    lines = [line for path in files for line in path.read_text().splitlines(True)]
    return "".join(event.get("text", "") for line in lines if line.endswith("\n") for _, event in json.loads(line))


async def test_kill_of_core(computer: Computer, api: MessagesAPI) -> None:
    gate = Gate()
    api.script(text("The beginning."), several(text(HALF, chunks=4), hold(gate)), text("Whole again."))
    async with computer.client() as client:
        session = session_of(await answered(client, "First message."))
        async with chat(client, "Second message.", session_id=session) as stream:
            await stream.until("text")
            while not text_of(stream.events).endswith("answer. "):
                await stream.until("text")
            # What was sent may be on its way to the disk, in the next batch.
            await until(lambda: stored_text(computer).endswith(HALF), "the events are stored")
            await asyncio.to_thread(computer.kill_core)
    async with computer.client() as client:
        assert (await client.get(f"/api/chat/{session}/stream-status")).json() == {"active": False}
        events = await events_after(client, session)
        assert text_of(events) == HALF
        assert events[-1]["type"] == "aborted"
        assert "restarted" in events[-1]["message"]
        assert [event["seq"] for event in events] == sorted({event["seq"] for event in events})
        stream = await answered(client, "Third message.", session)
        assert stream.text == "Whole again."
    sent = str(api.conversation[-1].body["messages"])
    assert all(words in sent for words in ("First message.", "The beginning.", "Second message.", "Third message."))


async def test_a_stop_during_an_answer(computer: Computer, api: MessagesAPI) -> None:
    gate = Gate()
    api.script(several(text(HALF), hold(gate)), text("Whole again."))
    async with computer.client() as client, chat(client, "First message.") as stream:
        await stream.until("text")
        session = session_of(stream)
        stopping = asyncio.create_task(asyncio.to_thread(computer.stop))
        await stream.collect()
        await stopping
    assert ended(stream)["type"] == "aborted"
    computer.start()
    async with computer.client() as client:
        events = await events_after(client, session)
        assert events == stream.events
        assert (await answered(client, "Second message.", session)).text == "Whole again."
    sent = str(api.conversation[-1].body["messages"])
    assert "First message." in sent


@pytest.mark.parametrize("level", ["sandboxed", "direct"])
async def test_kill_of_the_agent(server: Server, api: MessagesAPI, level: str) -> None:
    gate = Gate()
    api.script(text("The beginning."), several(text(HALF), hold(gate)), text("Whole again."))
    async with server.client() as client:
        session = session_of(await answered(client, "First message.", trustLevel=level))
        async with chat(client, "Second message.", session_id=session) as stream:
            await stream.until("text")
            os.kill(agent_of(server, session).pid, signal.SIGKILL)
            await stream.collect()
        assert ended(stream)["code"] == "tool_execution_failed"
        assert text_of(await events_after(client, session)) == HALF
        assert (await answered(client, "Third message.", session)).text == "Whole again."
        sent = str(api.conversation[-1].body["messages"])
        assert all(words in sent for words in ("First message.", "The beginning.", "Third message."))


async def test_kill_of_the_agent_in_the_first_answer(server: Server, api: MessagesAPI) -> None:
    gate = Gate()
    api.script(several(text(HALF), hold(gate)), text("Whole again."))
    async with server.client() as client:
        async with chat(client, "First message.") as stream:
            await stream.until("text")
            session = session_of(stream)
            os.kill(agent_of(server, session).pid, signal.SIGKILL)
            await stream.collect()
        stream = await answered(client, "Second message.", session)
        assert stream.text == "Whole again."
        assert not stream.of_type("session_unavailable")
        assert "First message." in str(api.conversation[-1].body["messages"])


@pytest.mark.parametrize("part", ["runner.py", "bwrap"])
async def test_kill_of_the_sandbox(server: Server, api: MessagesAPI, part: str) -> None:
    gate = Gate()
    api.script(text("The beginning."), several(text(HALF), hold(gate)), text("Whole again."))
    async with server.client() as client:
        session = session_of(await answered(client, "First message."))
        async with chat(client, "Second message.", session_id=session) as stream:
            await stream.until("text")
            above = agent_of(server, session).parents()
            victim = next(
                process for process in above if any(part in argument for argument in command_line(process)[:4])
            )
            os.kill(victim.pid, signal.SIGKILL)
            await stream.collect()
        assert ended(stream)["type"] == "typed_error"
        assert (await answered(client, "Third message.", session)).text == "Whole again."
        sent = str(api.conversation[-1].body["messages"])
        assert all(words in sent for words in ("First message.", "The beginning.", "Third message."))


async def test_an_agent_that_dies_between_two_messages(server: Server, api: MessagesAPI) -> None:
    api.script(text("The beginning."), text("Whole again."))
    async with server.client() as client:
        session = session_of(await answered(client, "First message."))
        os.kill(agent_of(server, session).pid, signal.SIGKILL)
        assert (await answered(client, "Second message.", session)).text == "Whole again."
        assert "First message." in str(api.conversation[-1].body["messages"])


async def test_nothing_is_left_of_many_chats(make_server: Make[Server], api: MessagesAPI) -> None:
    server = make_server(agents={**AGENTS, "warm": 1})
    api.default(text("Yes."))
    async with server.client() as client:
        sessions = [session_of(await answered(client, f"Chat {number}")) for number in range(3)]

        await server.programs.happens(lambda: len(agents(server)) == 1, "only the last one is kept")
        agent_of(server, sessions[-1])
        stream = await answered(client, "Again.", sessions[0])
        assert ended(stream)["sessionResume"]["cacheHit"] is False
        assert "Chat 0" in str(api.conversation[-1].body["messages"])
