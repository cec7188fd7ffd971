"""All that happened in a turn is known at its end, and still when the server was killed right after it."""

import asyncio
import contextlib
import sqlite3
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from parachute.changes.history import FEW_FILES
from parachute.chat.runs.turns import ShownTurn
from parachute.events.inbox.models import Answer as InboxAnswer
from parachute.security.keys.models import FULL_ACCESS, Caller
from tests.chat.agent_processes.core import Answer, Core, core
from tests.chat.agent_processes.module_tools import Reading
from tests.conftest import needs_bubblewrap
from tests.supervisor.launching import Launcher, launcher
from tests.support.computer import Computer
from tests.support.messages_api import MessagesAPI, text, tool_use
from tests.support.sse import chat

pytestmark = [needs_bubblewrap, pytest.mark.long]

HOSTILE = ("-rf", "a b", "new\nline", "\x1b[31mred", "<img src=x>", "‮txt.exe")
FETCH = "curl --max-time 20 -s http://api.example.org/ || true"


@pytest.fixture
def supervisor() -> Iterator[Launcher]:
    with launcher() as running:
        yield running


@pytest.fixture
async def made(supervisor: Launcher, api: MessagesAPI) -> AsyncIterator[Core]:
    async with core(supervisor, api.url, Reading()) as running:
        (running.vault / "Projects/boat").mkdir(parents=True)
        yield running


async def works(made: Core, api: MessagesAPI, script: str, session: str = "new") -> tuple[Answer, ShownTurn]:
    """A turn in which the agent runs a shell script, and what is known of it as soon as its end was told."""
    api.script(tool_use("Bash", {"command": script}), text("Done."))
    run = await made.begin("Work.", session, working_directory=str(made.vault / "Projects/boat"))
    events = [event.to_json() async for _, event in run.log.read()]
    turn = (await made.turns.newest(run.session.id, 1))[-1]
    await made.finished(run)
    assert turn.message == run.message
    return Answer(run.session.id, events), turn


async def test_a_turn_has_its_files_and_what_it_used(made: Core, api: MessagesAPI) -> None:
    answer, turn = await works(made, api, "printf 'a\\nb\\n' > plan.md")
    (change,) = turn.changes
    assert (change.kind, change.total, change.undone, change.added, change.removed) == ("run", 1, 0, 2, 0)
    assert [each.path for each in change.files] == ["plan.md"]
    assert turn.input_tokens > 0
    assert turn.output_tokens > 0
    assert turn.duration_ms > 0
    _, second = await works(made, api, "true", answer.session)
    assert second.changes == []
    assert [each.message for each in await made.turns.newest(answer.session, 50)] == [turn.message, second.message]


async def test_an_undo_can_be_taken_back_and_again(made: Core, api: MessagesAPI) -> None:
    answer, turn = await works(made, api, "echo plan > plan.md")
    changes, (change,) = made.services.changes, turn.changes
    for _ in range(2):
        undone = await changes.undo(answer.session, change.run)
        (turn,) = await made.turns.newest(answer.session, 1)
        assert [(each.kind, each.undone) for each in turn.changes] == [("run", 1), ("undo", 0)]
        assert turn.changes[-1].run == undone.number
        await changes.undo(answer.session, turn.changes[-1].run)
        (turn,) = await made.turns.newest(answer.session, 1)
        assert [(each.kind, each.undone) for each in turn.changes] == [("run", 0)]


async def test_what_waits_belongs_to_its_turn_also_once_it_was_applied(made: Core, api: MessagesAPI) -> None:
    answer, turn = await works(made, api, "echo open > readme; echo x > .envrc")
    (change,) = turn.changes
    assert [each.path for each in change.held] == [".envrc"]
    assert change.waiting == 1
    await made.services.changes.answer(answer.session, change.run, "apply", digest=change.hash)
    (turn,) = await made.turns.newest(answer.session, 1)
    assert [(each.kind, each.of, each.waiting) for each in turn.changes] == [
        ("run", None, 0),
        ("answer", change.run, 0),
    ]


async def test_numbers_that_were_given_again_are_no_changes_of_an_earlier_turn(
    made: Core, api: MessagesAPI, supervisor: Launcher
) -> None:
    answer, first = await works(made, api, "echo plan > plan.md")
    await works(made, api, "echo tide > tide.md", answer.session)
    (database,) = supervisor.folder.rglob("runs.db")
    with contextlib.closing(sqlite3.connect(database)) as connection, connection:
        # As after a restore, where changes begin at one again.
        connection.execute("UPDATE turns SET details = (SELECT details FROM turns ORDER BY id DESC LIMIT 1)")
    turns = await made.turns.newest(answer.session, 50)
    assert first.changes != []
    assert [[file.path for change in turn.changes for file in change.files] for turn in turns] == [[], ["tide.md"]]


async def test_of_many_files_the_first_are_told(made: Core, api: MessagesAPI) -> None:
    _, turn = await works(made, api, "for n in $(seq 1 30); do echo $n > file-$n; done")
    (change,) = turn.changes
    assert (change.total, change.added, len(change.files)) == (30, 30, FEW_FILES)


async def test_names_of_files_are_told_as_they_are(made: Core, api: MessagesAPI) -> None:
    names = " ".join(f"$'{name.encode('unicode_escape').decode()}'" for name in HOSTILE)
    _, turn = await works(made, api, f'for name in {names}; do echo x > ./"$name"; done')
    (change,) = turn.changes
    assert {each.path for each in change.files} == {*HOSTILE}


async def test_a_host_that_was_refused_is_told_with_its_decision(made: Core, api: MessagesAPI) -> None:
    answer, turn = await works(made, api, FETCH)
    (host,) = turn.refused
    assert (host.host, host.workspace, host.state) == ("api.example.org", None, "waits")
    (item,) = (await made.inbox.page()).items
    owner = Caller("key", "phone", FULL_ACCESS)
    await made.inbox.answer(item.id, item.hash, InboxAnswer("always", "phone"), owner, is_owner=True)
    (turn,) = await made.turns.newest(answer.session, 1)
    assert [each.state for each in turn.refused] == ["always"]
    _, second = await works(made, api, "true", answer.session)
    assert second.refused == []


async def test_a_turn_is_known_after_the_server_was_killed(computer: Computer, api: MessagesAPI) -> None:
    project = Path(computer.vault / "Projects" / "boat")
    project.mkdir(parents=True)
    api.script(tool_use("Bash", {"command": f"echo plan > plan.md; {FETCH}"}), text("Done."))
    async with computer.client() as client, chat(client, "Work.", workingDirectory=str(project)) as stream:
        await stream.until("done")
        session = str(stream.of_type("session")[0]["sessionId"])
        (message,) = stream.of_type("user_message")
        await asyncio.to_thread(computer.kill_core)
    async with computer.client() as client:
        (turn,) = (await client.get(f"/api/chat/{session}/turns")).json()["turns"]
        assert turn["message"] == message["id"]
        assert [each["path"] for change in turn["changes"] for each in change["files"]] == ["plan.md"]
        assert [each["state"] for each in turn["refused"]] == ["refused"]
        assert turn["output_tokens"] > 0
        assert (await client.delete(f"/api/chat/{session}")).is_success
        answer = await client.get(f"/api/chat/{session}/turns")
        assert (answer.status_code, answer.json()) == (200, {"turns": []})
