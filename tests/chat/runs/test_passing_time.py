"""Agents that end by themselves when nobody writes for long; the server's time passes when the test lets it."""

import psutil
import pytest

from tests.chat.runs.answers import answered, session_of
from tests.chat.runs.processes import agent_of, agents
from tests.support.installation import AGENTS
from tests.support.making import Make
from tests.support.messages_api import MessagesAPI, text
from tests.support.server import TimedServer
from tests.support.waiting import still_running

pytestmark = pytest.mark.process

MINUTE = 60.0


@pytest.fixture
def server(make_server: Make[TimedServer], api: MessagesAPI) -> TimedServer:
    """A server that keeps agents for five minutes."""
    api.default(text("Yes."))
    return make_server(TimedServer, agents={**AGENTS, "warm_minutes": 5})


async def test_an_agent_that_nobody_writes_to_ends_and_the_conversation_goes_on(server: TimedServer) -> None:
    async with server.client() as client:
        session = session_of(await answered(client, "Are you there?"))
        agent = agent_of(server, session)
        server.advance(4 * MINUTE, "agent pool")
        assert (await answered(client, "And now?", session)).text == "Yes."
        assert agent_of(server, session) == agent
        server.advance(4 * MINUTE, "agent pool")
        assert agents(server) == [agent], "four minutes after the last message"
        server.advance(2 * MINUTE, "agent pool")
        assert still_running([agent]) == []
        assert (await answered(client, "And then?", session)).text == "Yes."


async def test_an_agent_that_ended_by_itself_is_no_more_kept(server: TimedServer) -> None:
    async with server.client() as client:
        session = session_of(await answered(client, "Are you there?"))
        agent: psutil.Process = agent_of(server, session)
        agent.kill()
        assert still_running([agent]) == []
        server.advance(MINUTE, "agent pool")
        assert (await answered(client, "And now?", session)).text == "Yes."
        assert agent_of(server, session) != agent
