"""D3: what was said in a turn that ended before its first answer is known to the next turn, and stands in the transcript once."""

from collections.abc import Iterator
from typing import Any

import httpx2
import pytest

from tests.runs.answers import answered, ended, eventually, session_of
from tests.runs.processes import agents, command_line
from tests.support.computer import Computer
from tests.support.messages_api import MessagesAPI, error, text
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


async def lose(computer: Computer, client: httpx2.AsyncClient, session: str, words: str, part: str) -> None:
    """Say something, and kill a process of the turn as soon as it is there."""
    # One that was kept would be replaced by a new one without a word.
    for agent in agents(computer):
        agent.kill()
    await eventually(lambda: not agents(computer), "no agent is left")
    async with chat(client, words, session_id=session) as stream:
        (agent,) = await eventually(lambda: agents(computer), "the agent is there")
        victims = [each for each in (agent, *agent.parents()) if part in " ".join(command_line(each)[:4])]
        victims[0].kill()
        await stream.collect()
        assert ended(stream)["type"] in ("typed_error", "error")


@pytest.mark.parametrize("part", ["", "bwrap"])
async def test_a_killed_agent_takes_no_message_along(computer: Computer, model: MessagesAPI, part: str) -> None:
    model.default(text("Whole again."))
    async with computer.client() as client:
        session = session_of(await answered(client, "First message."))
        await lose(computer, client, session, LOST, part)
        # Said a second time, the words of the first are known, too.
        await lose(computer, client, session, "It is blue.", part)
        assert (await answered(client, "What is it called?", session)).text == "Whole again."
        sent = last_request(model)
        for words in ("First message.", LOST, "It is blue.", "What is it called?"):
            assert sent.count(words) == 1, (words, sent)
        seen = await shown(client, session)
        assert seen.count(LOST) == seen.count("It is blue.") == 1
        # It is over with that: the turn after it is told nothing twice.
        await answered(client, "And now?", session)
        assert last_request(model).count(LOST) == 1


async def test_a_model_that_refuses_repeats_nothing(computer: Computer, model: MessagesAPI) -> None:
    model.default(text("Yes."))
    async with computer.client() as client:
        session = session_of(await answered(client, "First message."))
        model.script(error(400, "invalid_request_error", "Something else."))
        await answered(client, LOST, session)
        await answered(client, "And now?", session)
        assert last_request(model).count(LOST) == 1
