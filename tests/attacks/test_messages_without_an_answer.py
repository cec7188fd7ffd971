"""D3: what was said in a turn that ended before its first answer is known to the next turn, and stands in the transcript once."""

import asyncio
import re
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.chat.runs.answers import answered, ended, session_of
from tests.chat.runs.processes import agent_of, agents
from tests.support.computer import Computer, command_line
from tests.support.gate import Gate
from tests.support.messages_api import MessagesAPI, error, hold, text
from tests.support.sse import chat
from tests.support.waiting import until

pytestmark = pytest.mark.long

LOST = "My boat is called Seagull."


def last_request(api: MessagesAPI) -> str:
    """Everything that the model was sent last."""
    return str(api.conversation[-1].body["messages"])


async def shown(client: httpx2.AsyncClient, session: str) -> str:
    """The transcript as an app shows it."""
    found: dict[str, Any] = (await client.get(f"/api/chat/{session}")).json()
    return str([message["content"] for message in found["messages"]])


async def lose(
    computer: Computer, client: httpx2.AsyncClient, api: MessagesAPI, session: str, words: str, part: str
) -> None:
    """Say something, and kill a process of the turn as soon as it is there, before the model has answered."""
    gate, answer = Gate(), text("Whole again.")
    api.default(hold(gate, answer))
    # One that was kept would be replaced by a new one without a word.
    for agent in agents(computer):
        agent.kill()
    await until(lambda: not agents(computer), "no agent is left")
    async with chat(client, words, session_id=session) as stream:
        (agent,) = await until(lambda: agents(computer), "the agent is there")
        victims = [each for each in (agent, *agent.parents()) if part in " ".join(command_line(each)[:4])]
        victims[0].kill()
        await stream.collect()
        assert ended(stream)["type"] in ("typed_error", "error")
    api.default(answer)
    gate.open()


@pytest.mark.parametrize("part", ["", pytest.param("bwrap", marks=pytest.mark.long)])
async def test_a_killed_agent_takes_no_message_along(computer: Computer, api: MessagesAPI, part: str) -> None:
    api.default(text("Whole again."))
    async with computer.client() as client:
        session = session_of(await answered(client, "First message."))
        await lose(computer, client, api, session, LOST, part)
        # Said a second time, the words of the first are known, too.
        await lose(computer, client, api, session, "It is blue.", part)
        assert (await answered(client, "What is it called?", session)).text == "Whole again."
        sent = last_request(api)
        for words in ("First message.", LOST, "It is blue.", "What is it called?"):
            assert sent.count(words) == 1, (words, sent)
        seen = await shown(client, session)
        assert seen.count(LOST) == seen.count("It is blue.") == 1
        # It is over with that: the turn after it is told nothing twice.
        await answered(client, "And now?", session)
        assert last_request(api).count(LOST) == 1


async def test_who_reads_the_end_may_speak_before_it_is_stored(computer: Computer, api: MessagesAPI) -> None:
    gate = Gate()
    api.script(text("Yes."))
    api.default(hold(gate, text("Too late.")))
    async with computer.client() as client:
        session = session_of(await answered(client, "First message."))
        for agent in agents(computer):
            agent.kill()
        await until(lambda: not agents(computer), "no agent is left")
        with closing(sqlite3.connect(computer.vault / ".parachute" / "runs.db", isolation_level=None)) as other:
            async with chat(client, LOST, session_id=session) as stream:
                (agent,) = await until(lambda: agents(computer), "the agent is there")
                other.execute("BEGIN IMMEDIATE")
                agent.kill()
                await stream.collect()
            gate.open()
            api.default(text("Whole again."))
            following = asyncio.create_task(answered(client, "What is it called?", session))
            for _ in range(10):
                await client.get("/api/health")
            other.rollback()
        await following
        assert last_request(api).count(LOST) == 1


async def test_the_same_words_said_before_are_not_taken_for_the_lost_ones(computer: Computer, api: MessagesAPI) -> None:
    api.default(text("Yes."))
    async with computer.client() as client:
        session = session_of(await answered(client, "Go on."))
        # As after a power cut on a machine without a clock of its own: what was said before lies in the future.
        (transcript,) = computer.vault.glob(f".claude/projects/*/{session}.jsonl")
        transcript.write_text(re.sub(r'"timestamp":"20\d\d', '"timestamp":"2199', transcript.read_text()))
        for _ in range(2):
            await lose(computer, client, api, session, "Go on.", "")
        await answered(client, "Well?", session)
        assert last_request(api).count("Go on.") == 3
        await answered(client, "Go on.", session)
        assert last_request(api).count("Go on.") == 4


def has_message(transcript: Path, text: str) -> bool:
    """Return whether a whole line of the transcript is the message itself; one before it records its arrival."""
    lines = transcript.read_text().rpartition("\n")[0].splitlines()
    return any('"type":"user"' in line and text in line for line in lines)


async def test_what_the_transcript_has_is_not_handed_on_again(computer: Computer, api: MessagesAPI) -> None:
    gate = Gate()
    api.script(text("Yes."), hold(gate, text("Too late.")))
    api.default(text("Whole again."))
    async with computer.client() as client:
        session = session_of(await answered(client, "Go on."))
        async with chat(client, LOST, session_id=session) as stream:
            await gate.reached()
            (transcript,) = computer.vault.glob(f".claude/projects/*/{session}.jsonl")
            await until(lambda: has_message(transcript, LOST), "the message is written")
            agent_of(computer, session).kill()
            await stream.collect()
        gate.open()
        await answered(client, "Well?", session)
        assert last_request(api).count(LOST) == 1
        assert "interrupted_turn" not in last_request(api)


async def test_a_model_that_refuses_repeats_nothing(computer: Computer, api: MessagesAPI) -> None:
    api.default(text("Yes."))
    async with computer.client() as client:
        session = session_of(await answered(client, "First message."))
        api.script(error(400, "invalid_request_error", "Something else."))
        await answered(client, LOST, session)
        await answered(client, "And now?", session)
        assert last_request(api).count(LOST) == 1
