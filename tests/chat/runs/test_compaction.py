"""Before most of a conversation is cut in the middle of a turn, others hear of it; the turn goes on whatever becomes of that."""

import sqlite3
from collections.abc import Iterator
from typing import Any

import pytest

from tests.chat.agent_processes.core import Core, core
from tests.chat.agent_processes.module_tools import Reading
from tests.conftest import needs_bubblewrap
from tests.supervisor.launching import Launcher, launcher
from tests.support.messages_api import MessagesAPI, text, tool_use

pytestmark = [needs_bubblewrap, pytest.mark.long]

FULL = tool_use("Bash", {"command": "echo hello"}).using(input_tokens=995_000, output_tokens=5)
"""A call of a tool after which the model's context is full."""


@pytest.fixture
def supervisor() -> Iterator[Launcher]:
    with launcher() as running:
        yield running


def heard_by(made: Core) -> list[dict[str, Any]]:
    """Return the announcements about conversations that are nearly full."""
    heard: list[dict[str, Any]] = []

    async def hear(name: str, data: dict[str, Any]) -> None:
        if name == "context.limit.approaching":
            heard.append(data)

    made.events.subscribe(hear)
    return heard


def compactions(api: MessagesAPI) -> int:
    return sum(request.kind == "compaction" for request in api.requests)


async def test_a_command_to_compact_is_told_before(supervisor: Launcher, api: MessagesAPI) -> None:
    api.script(text("Yes.").using(input_tokens=500, output_tokens=3))
    async with core(supervisor, api.url, Reading()) as made:
        heard = heard_by(made)
        first = await made.answered("Whose is the telescope?")
        compacted = await made.answered("/compact", first.session)
    assert heard == [{"session_id": first.session, "token_count": 0, "threshold": 0.8, "compaction": "manual"}]
    assert compactions(api) == 1
    assert compacted.of_type("warning") == []
    assert compacted.end["type"] == "done"


async def test_so_is_one_in_the_middle_of_a_turn(supervisor: Launcher, api: MessagesAPI) -> None:
    api.script(FULL, text("It is done.").using(input_tokens=20))
    async with core(supervisor, api.url, Reading()) as made:
        heard = heard_by(made)
        answer = await made.answered("A long task")
    assert compactions(api) == 1
    assert heard[0] == {"session_id": answer.session, "token_count": 995_005, "threshold": 0.8, "compaction": "auto"}
    assert answer.text.endswith("It is done.")


async def test_a_failure_is_said_once_and_the_turn_goes_on(supervisor: Launcher, api: MessagesAPI) -> None:
    api.script(FULL, FULL, text("It is done.").using(input_tokens=20))
    async with core(supervisor, api.url, Reading()) as made:
        with sqlite3.connect(made.vault / ".parachute" / "events.db", timeout=60) as database:
            database.execute("DROP TABLE deliveries")
        answer = await made.answered("A long task")
    assert compactions(api) == 2
    (warning,) = answer.of_type("warning")
    assert warning["title"] == "Memory"
    assert (answer.text.endswith("It is done."), answer.end["type"]) == (True, "done")
