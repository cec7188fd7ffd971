"""D3: what was said in a turn that ended before its first answer is known to the next turn, and stands in the transcript once."""

import asyncio
import os
import signal
from collections.abc import Iterator
from typing import Any

import httpx2
import pytest

from tests.runs.answers import answered, ended, session_of
from tests.runs.processes import agent_of, command_line
from tests.support.computer import Computer
from tests.support.messages_api import Gate, MessagesAPI, error, hold, text
from tests.support.sse import chat

LOST = "My boat is called Seagull."


@pytest.fixture
def model() -> Iterator[MessagesAPI]:
    """A scripted model service."""
    with MessagesAPI() as service:
        yield service


@pytest.fixture
def computer(model: MessagesAPI) -> Iterator[Computer]:
    """A computer of this test alone."""
    environment = {"ANTHROPIC_API_KEY": "sk-ant-api03-real", "ANTHROPIC_BASE_URL": model.url}
    with Computer(environment=environment) as running:
        yield running


def last_request(model: MessagesAPI) -> str:
    """Everything that the model was sent last."""
    return str(model.conversation[-1].body["messages"])


async def shown(client: httpx2.AsyncClient, session: str) -> str:
    """The transcript as an app shows it."""
    found: dict[str, Any] = (await client.get(f"/api/chat/{session}")).json()
    return str([message["content"] for message in found["messages"]])


async def lose(
    computer: Computer, model: MessagesAPI, client: httpx2.AsyncClient, session: str, words: str, part: str
) -> None:
    """Say something, and kill a process of the turn before the model has answered."""
    gate = Gate()
    model.script(hold(gate))
    async with chat(client, words, session_id=session) as stream:
        agent = await asyncio.to_thread(agent_of, computer, session)
        above = [agent, *agent.parents()]
        victim = next(each for each in above if part in " ".join(command_line(each)[:4])) if part else agent
        os.kill(victim.pid, signal.SIGKILL)
        await stream.collect()
        assert ended(stream)["type"] in ("typed_error", "error", "aborted")
    gate.open()


@pytest.mark.parametrize("part", ["", "bwrap"])
async def test_a_killed_agent_takes_no_message_along(computer: Computer, model: MessagesAPI, part: str) -> None:
    model.default(text("Whole again."))
    async with computer.client() as client:
        session = session_of(await answered(client, "First message."))
        await lose(computer, model, client, session, LOST, part)
        # Said a second time, the words of the first are known, too.
        await lose(computer, model, client, session, "It is blue.", part)
        model.forget_script()
        model.default(text("Whole again."))
        assert (await answered(client, "What is it called?", session)).text == "Whole again."
        sent = last_request(model)
        for words in ("First message.", LOST, "It is blue.", "What is it called?"):
            assert sent.count(words) == 1, (words, sent)
        seen = await shown(client, session)
        assert seen.count(LOST) == seen.count("It is blue.") == 1
        # It is over with that: the turn after it is told nothing twice.
        await answered(client, "And now?", session)
        assert last_request(model).count(LOST) == 1


async def test_the_same_words_said_before_are_not_taken_for_the_lost_ones(
    computer: Computer, model: MessagesAPI
) -> None:
    model.default(text("Yes."))
    async with computer.client() as client:
        session = session_of(await answered(client, "Go on."))
        await lose(computer, model, client, session, "Go on.", "")
        model.forget_script()
        model.default(text("Yes."))
        await answered(client, "Well?", session)
        assert last_request(model).count("Go on.") == 2


async def test_a_model_that_refuses_repeats_nothing(computer: Computer, model: MessagesAPI) -> None:
    model.default(text("Yes."))
    async with computer.client() as client:
        session = session_of(await answered(client, "First message."))
        model.script(error(400, "invalid_request_error", "Something else."))
        await answered(client, LOST, session)
        await answered(client, "And now?", session)
        assert last_request(model).count(LOST) == 1
