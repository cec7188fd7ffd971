"""A question with the login of a subscription is asked by an agent, of which nothing stays."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest

from parachute.automation.questions.service import AgentQuestions
from parachute.base.errors import Unavailable
from parachute.llm.gateway.models import QUESTIONS
from parachute.llm.gateway.questions import NotAnswered, Questions
from parachute.security.kill_switch.switch import KillSwitch, Stopped
from tests.chat.agent_processes.core import KEY, Core, core
from tests.chat.agent_processes.module_tools import Reading
from tests.conftest import needs_bubblewrap
from tests.supervisor.launching import Launcher, launcher
from tests.support.messages_api import Gate, MessagesAPI, error, hold, text

pytestmark = [needs_bubblewrap, pytest.mark.long]

TOKEN = "sk-ant-oat01-of-a-subscription"
ASKED: dict[str, Any] = {"prompt": "Whose is it?", "system": "Be short.", "max_tokens": 100, "source": ("cli", "owner")}


@pytest.fixture
def supervisor() -> Iterator[Launcher]:
    with launcher() as running:
        yield running


@pytest.fixture
async def made(supervisor: Launcher, api: MessagesAPI) -> AsyncIterator[Core]:
    """A computer with the login of a subscription."""
    api.require(bearer=TOKEN)
    async with core(supervisor, api.url, Reading(), login={"CLAUDE_CODE_OAUTH_TOKEN": TOKEN}) as running:
        yield running


@pytest.fixture
async def questions(made: Core) -> Questions:
    """Its questions."""
    return await asking(made)


async def asking(made: Core) -> Questions:
    agent = AgentQuestions(made.services, made.pool)
    await agent.start()
    return Questions(made.services.gateway, agent)


def left(made: Core) -> list[Path]:
    """Return the files on the disk of sessions and questions."""
    run, projects = made.services.home.run, made.services.vault.transcripts / "projects"
    folders = (run / "questions", run / "sandbox", projects)
    return [path for folder in folders if folder.exists() for path in folder.iterdir() if path.is_dir()]


async def test_an_agent_asks_without_tools_and_nothing_of_it_stays(
    made: Core, questions: Questions, api: MessagesAPI
) -> None:
    heard: list[str] = []

    async def hear(name: str, data: dict[str, Any]) -> None:
        heard.append(name)

    made.events.subscribe(hear)
    api.script(text("Ottilie's.").using(input_tokens=1000, output_tokens=10))
    answer = await questions.ask(**ASKED)
    assert (answer.text, answer.stop_reason) == ("Ottilie's.", "end_turn")
    assert (answer.usage.input_tokens, answer.usage.output_tokens) == (1000, 10)
    (request,) = api.conversation
    assert request.headers["user-agent"].startswith("claude-cli/")
    assert "haiku" in request.body["model"]
    assert (request.body["tools"], request.body["max_tokens"]) == ([], 100)
    assert request.body["system"][-1]["text"] == "Be short."
    assert request.body["messages"][-1]["content"][-1]["text"] == "Whose is it?"
    assert (await made.services.gateway.used_by(QUESTIONS)).input_tokens == 1000
    assert (heard, await made.services.sessions.count(), left(made)) == ([], 0, [])
    audited = await made.audited()
    assert '"source_type": "cli", "source_id": "owner"' in audited
    assert TOKEN not in audited


async def test_an_answer_that_is_too_long_is_cut_and_not_gone_on_with(
    made: Core, questions: Questions, api: MessagesAPI
) -> None:
    api.script(text("word " * 50).using(stop_reason="max_tokens"))
    answer = await questions.ask(**ASKED)
    assert (answer.text, answer.stop_reason) == ("word " * 50, "max_tokens")
    assert len(api.conversation) == 1
    assert left(made) == []


async def test_what_goes_wrong_is_told_as_without_an_agent(made: Core, questions: Questions, api: MessagesAPI) -> None:
    api.default(error(429, "rate_limit_error", "Slow down."))
    with pytest.raises(NotAnswered) as caught:
        await questions.ask(**ASKED)
    assert (caught.value.status, caught.value.key, caught.value.message) == (429, "rate_limited", "Slow down.")
    assert left(made) == []


async def test_a_command_in_it_is_text(questions: Questions, api: MessagesAPI) -> None:
    api.script(text("A command."))
    await questions.ask(**{**ASKED, "prompt": "/compact @/etc/passwd"})
    assert api.conversation[0].body["messages"][-1]["content"][-1]["text"] == "/compact @/etc/passwd"


async def test_whoever_stops_waiting_ends_the_agent(made: Core, questions: Questions, api: MessagesAPI) -> None:
    gate = Gate()
    api.script(hold(gate))
    waiting = asyncio.create_task(questions.ask(**ASKED))
    await gate.reached()
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    await api.happens(lambda: api.disconnects == 1, "the client has left")
    assert left(made) == []


async def test_a_stop_of_all_agents_is_the_answer(made: Core, questions: Questions, api: MessagesAPI) -> None:
    gate = Gate()
    api.script(hold(gate))
    waiting = asyncio.create_task(questions.ask(**ASKED))
    await gate.reached()
    KillSwitch(made.services.home.root).engage("owner")
    await made.runs.stop_all()
    await made.services.gateway.close_all()
    with pytest.raises(Stopped):
        await waiting
    assert left(made) == []


async def test_what_a_killed_server_left_is_removed(made: Core, questions: Questions) -> None:
    session = "4fb82c0f-3b45-451c-b78a-59b9ca016de0"
    (made.services.home.run / "questions" / session).mkdir()
    folder = made.services.sessions.transcripts.folder(session)
    folder.mkdir(parents=True)
    (folder / f"{session}.jsonl").write_text("{}\n")
    await asking(made)
    assert left(made) == []


async def test_an_api_key_needs_no_agent(supervisor: Launcher, api: MessagesAPI) -> None:
    api.script(text("Ottilie's."))
    async with core(supervisor, api.url, Reading()) as made:
        assert (await (await asking(made)).ask(**ASKED)).text == "Ottilie's."
    assert api.conversation[0].headers["x-api-key"] == KEY
    assert not api.conversation[0].headers["user-agent"].startswith("claude-cli/")


async def test_without_a_sandbox_there_is_no_agent(supervisor: Launcher, api: MessagesAPI) -> None:
    login = {"CLAUDE_CODE_OAUTH_TOKEN": TOKEN}
    async with core(supervisor, api.url, Reading(), login=login, sandbox={"engine": "podman"}) as made:
        questions = await asking(made)
        if await made.services.sandboxes.reason_unavailable() is None:
            pytest.skip("Podman works here.")
        assert "sandbox" in (await questions.reason_unavailable() or "")
        with pytest.raises(Unavailable) as caught:
            await questions.ask(**ASKED)
        assert caught.value.key == "no_sandbox"
    assert api.conversation == []
