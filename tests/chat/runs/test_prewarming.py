"""Agents that are kept between turns, and the one that is prewarmed for a new chat."""

import asyncio
from pathlib import Path
from typing import Any

import httpx2
import pytest

from parachute.base.errors import Unavailable
from parachute.chat.agent_processes.options import prepare_files
from parachute.chat.agent_processes.pool import AgentPool
from parachute.chat.knowledge.service import KnowledgeService
from parachute.chat.runs.person_preparation import PersonPreparation
from parachute.chat.runs.preparation import AgentServices, Preparation
from parachute.chat.runs.prewarming import Prewarming
from parachute.config.settings.groups.agents import AgentSettings
from parachute.config.settings.home import Home
from parachute.config.settings.models import Settings
from parachute.sandbox.engines.service import Sandboxes
from tests.chat.agent_processes.module_tools import Reading
from tests.chat.runs.answers import answered, ended, session_of
from tests.chat.runs.processes import agent_of, agents
from tests.support.clock import ManualClock
from tests.support.installation import AGENTS
from tests.support.making import Make
from tests.support.messages_api import MessagesAPI, text
from tests.support.server import Server
from tests.support.waiting import until

pytestmark = pytest.mark.long


async def prewarmed(client: httpx2.AsyncClient) -> None:
    """Wait until an agent is ready for the next new chat."""

    async def is_ready() -> bool:
        return bool((await client.get("/api/status")).json()["agents"]["spare"])

    await until(is_ready, "an agent is ready")


async def test_a_kept_agent_is_used_again_only_as_long_as_nothing_changed(server: Server, api: MessagesAPI) -> None:
    api.default(text("Yes."))
    async with server.client() as client:
        session = session_of(await answered(client, "One."))
        first = agent_of(server, session)
        stream = await answered(client, "Two.", session)
        assert ended(stream)["sessionResume"]["cacheHit"] is True
        assert agent_of(server, session) == first
        stream = await answered(client, "Three.", session, systemPrompt="You are a poet.")
        resume = ended(stream)["sessionResume"]
        assert (resume["cacheHit"], resume["sdkResumeAttempted"], resume["previousMessageCount"]) == (False, True, 4)
        assert agent_of(server, session) != first
    body = api.conversation[-1].body
    assert "You are a poet." in str(body["system"])
    assert all(word in str(body["messages"]) for word in ("One.", "Two.", "Three."))


async def test_new_chats_take_the_prewarmed_agent_and_another_is_made(
    make_server: Make[Server], api: MessagesAPI
) -> None:
    server = make_server(agents={**AGENTS, "spare": True})
    api.default(text("Yes."))
    async with server.client() as client:
        assert (await client.get("/api/chat")).json() == {"sessions": []}
        for number in range(2):
            await prewarmed(client)
            before = agents(server)
            stream = await answered(client, f"Hello {number}.")
            assert agent_of(server, session_of(stream)) in before
        # A chat that needs something else does not take it, and nothing of it goes wrong.
        await prewarmed(client)
        before = agents(server)
        stream = await answered(client, "In a folder.", trustLevel="direct")
        assert agent_of(server, session_of(stream)) not in before
        stream = await answered(client, "Another prompt.", systemPrompt="You are a poet.")
        assert "You are a poet." in str(api.conversation[-1].body["system"])
        assert ended(stream)["type"] == "done"
        # Of several at once one takes it.
        await prewarmed(client)
        streams = await asyncio.gather(*(answered(client, f"Chat {number}") for number in range(3)))
        assert len({session_of(stream) for stream in streams}) == 3
        assert [stream.text for stream in streams] == ["Yes."] * 3


class Broken(PersonPreparation):
    """No sandbox can be prepared."""

    def __init__(self) -> None:
        self.tries = 0

    async def prepare(self, *arguments: Any, **named: Any) -> Preparation:
        """Fail."""
        self.tries += 1
        raise Unavailable("There is no sandbox.")


class Present(Sandboxes):
    """An engine that is installed."""

    def __init__(self) -> None:
        pass

    async def reason_unavailable(self) -> str | None:
        """Find nothing wrong."""
        return None


class Ignorant(KnowledgeService):
    """No module knows anything."""

    def __init__(self) -> None:
        pass

    def app_seen(self) -> None:
        """Wake nobody."""


async def test_an_agent_that_cannot_be_started_is_not_tried_all_the_time(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    home.root.mkdir()
    settings = Settings(vault=tmp_path, agents=AgentSettings.model_validate({**AGENTS, "spare": True}))
    others: Any = None
    services = AgentServices(home, settings, others, others, others, Present(), *[others] * 6)
    pool = AgentPool(settings.agents, prepare_files(home), Reading())
    broken, clock = Broken(), ManualClock()
    prewarming = Prewarming(services, broken, pool, Ignorant(), clock)
    for later, tries in ((0, 1), (4, 1), (2, 2), (20, 2), (11, 3), (290, 3), (11, 4), (290, 4), (11, 5)):
        clock.move(later)
        for _ in range(3):
            prewarming.app_seen()
            for _ in range(5):
                await asyncio.sleep(0)
        assert broken.tries == tries
    await prewarming.close()
    clock.move(1_000)
    prewarming.app_seen()
    assert broken.tries == 5
