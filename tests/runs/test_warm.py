"""Agents that are kept between turns, and the one that waits for a new chat."""

import asyncio

import psutil

from tests.runs.answers import answered, ended, eventually, session_of
from tests.runs.conftest import MakeComputer
from tests.runs.processes import agent_of, agents
from tests.support.computer import Computer
from tests.support.messages_api import MessagesAPI, text


async def spare_beside(computer: Computer, kept: int) -> list[psutil.Process]:
    """All agents, as soon as there are more of them than are kept for conversations."""
    await eventually(lambda: len(agents(computer)) > kept, "there is a spare")
    return agents(computer)


async def test_a_kept_agent_is_used_again_only_as_long_as_nothing_changed(computer: Computer, api: MessagesAPI) -> None:
    api.default(text("Yes."))
    async with computer.client() as client:
        session = session_of(await answered(client, "One."))
        first = agent_of(computer, session)
        stream = await answered(client, "Two.", session)
        assert ended(stream)["sessionResume"]["cacheHit"] is True
        assert agent_of(computer, session) == first
        stream = await answered(client, "Three.", session, systemPrompt="You are a poet.")
        resume = ended(stream)["sessionResume"]
        assert (resume["cacheHit"], resume["sdkResumeAttempted"], resume["previousMessageCount"]) == (False, True, 4)
        assert agent_of(computer, session) != first
    body = api.conversation[-1].body
    assert "You are a poet." in str(body["system"])
    assert all(word in str(body["messages"]) for word in ("One.", "Two.", "Three."))


async def test_a_new_chat_takes_the_spare_and_another_is_made(
    make_computer: MakeComputer, own_api: MessagesAPI
) -> None:
    computer = make_computer(agents={"spare": True})
    own_api.default(text("Yes."))
    async with computer.client() as client:
        await client.get("/api/chat")
        await eventually(lambda: agents(computer), "a spare is started")
        assert (await client.get("/api/chat")).json() == {"sessions": []}
        # The first chat may be there before the spare is ready; then the second finds it.
        taken = 0
        for number in range(2):
            before = await spare_beside(computer, number)
            stream = await answered(client, f"Hello {number}.")
            taken += agent_of(computer, session_of(stream)) in before
        assert taken >= 1
        # A chat that needs something else does not take it, and nothing of it goes wrong.
        stream = await answered(client, "In a folder.", trustLevel="direct")
        stream = await answered(client, "Another prompt.", systemPrompt="You are a poet.")
        assert "You are a poet." in str(own_api.conversation[-1].body["system"])
        assert ended(stream)["type"] == "done"


async def test_new_chats_at_once_do_not_share_the_spare(make_computer: MakeComputer, own_api: MessagesAPI) -> None:
    computer = make_computer(agents={"spare": True})
    own_api.default(text("Yes."))
    async with computer.client() as client:
        await client.get("/api/chat")
        await eventually(lambda: agents(computer), "there is a spare")
        streams = await asyncio.gather(*(answered(client, f"Chat {number}") for number in range(3)))
        assert len({session_of(stream) for stream in streams}) == 3
        assert [stream.text for stream in streams] == ["Yes."] * 3
