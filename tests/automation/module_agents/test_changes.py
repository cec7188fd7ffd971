"""Changes by agents of modules are applied from a view, and can be taken back; changes by others meanwhile stay."""

import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from parachute.chat.runs.closing import close_session
from tests.automation.module_agents.conftest import MakePlace, Place
from tests.conftest import needs_bubblewrap
from tests.support.messages_api import MessagesAPI, Reply, text, tool_use

pytestmark = [needs_bubblewrap, pytest.mark.usefixtures("views_work"), pytest.mark.long]

SORTER = {"sandbox": {"workspace_access": "rw", "allowed_paths": ["Letters/", "Brain/people/"]}, "bash": True}


async def works(
    place: Place, api: MessagesAPI, script: str, meanwhile: Callable[[], object] = lambda: None, **options: Any
) -> tuple[str, list[dict[str, Any]]]:
    """A run of the agent; `meanwhile` comes when the script is done and the run goes on. Its session and its events."""

    def answer(body: dict[str, Any]) -> Reply:
        meanwhile()
        return text("Done.")

    api.script(tool_use("Bash", {"command": script}), answer)
    events = await place.events(place.module(agents={"sorter": SORTER}), agent="sorter", **options)
    assert events[-1]["type"] == "done", events
    (result,) = (event for event in events if event["type"] == "tool_result")
    assert not result["isError"], result
    return str(events[-1]["sessionId"]), events


def listed(vault: Path) -> dict[str, str]:
    """Return the contents of the agent's folders."""
    found = {}
    for top in ("Letters", "Brain"):
        for folder, folders, files in os.walk(vault / top):
            for name in (*folders, *files):
                path = Path(folder, name)
                content = path.read_text() if path.is_file() else ""
                found[str(path.relative_to(vault))] = f"{stat.S_IMODE(path.stat().st_mode):o} {content}"
    return found


async def test_a_run_that_wrote_in_two_folders_is_taken_back_as_one(place: Place, api: MessagesAPI) -> None:
    for path in ("Letters/one.md", "Letters/old/two.md", "Brain/people/ann.md", "Brain/other.md"):
        place.write(path, f"text of {path}")
    (place.vault / "Brain").chmod(0o750)
    (place.vault / "Letters").chmod(0o755)
    before = listed(place.vault)
    script = (
        "cd /vault/Letters && echo after > one.md && rm -r old && mkdir new && echo x > new/three.md && "
        "mv /vault/Brain/people/ann.md /vault/Brain/people/anna.md && chmod 600 /vault/Brain/people/anna.md"
    )
    session, events = await works(place, api, script)
    assert [event for event in events if event["type"] == "warning"] == []
    assert (place.vault / "Letters/one.md").read_text() == "after\n"
    assert (place.vault / "Brain/people/anna.md").read_text() == "text of Brain/people/ann.md"
    assert not (place.vault / "Letters/old").exists()
    assert stat.S_IMODE((place.vault / "Brain").stat().st_mode) == 0o750
    changes = place.core.services.changes
    (run,) = await changes.history.of_session(session)
    assert run.found.project == str(place.vault)
    paths = [entry.path for entry in run.entries]
    assert paths == [
        *("Brain/people/ann.md", "Brain/people/anna.md", "Letters/new", "Letters/new/three.md"),
        *("Letters/old", "Letters/old/two.md", "Letters/one.md"),
    ]
    undone = await changes.undo(session)
    assert undone.conflicts == ()
    assert listed(place.vault) == before


async def test_undo_leaves_what_others_wrote_meanwhile(place: Place, api: MessagesAPI) -> None:
    place.write("Letters/one.md", "before")
    place.write("Letters/shared.md", "before")

    def others() -> None:
        """A host of a module writes: a file of its own, one that the agent reads, and one that it has written."""
        place.write("Letters/index.db", "rows")
        place.write("Letters/read.md", "of another")
        place.write("Letters/shared.md", "of another")

    place.write("Letters/read.md", "before")
    session, _ = await works(
        place, api, "cd /vault/Letters; cat read.md; echo mine > one.md; echo mine > shared.md", others
    )
    changes = place.core.services.changes
    (run,) = await changes.history.of_session(session)
    assert {entry.path for entry in run.entries} | {held.path for held in run.held} == {
        "Letters/one.md",
        "Letters/shared.md",
    }
    undone = await changes.undo(session)
    assert place.vault.joinpath("Letters/one.md").read_text() == "before"
    assert place.vault.joinpath("Letters/shared.md").read_text() == "of another"
    assert place.vault.joinpath("Letters/read.md").read_text() == "of another"
    assert place.vault.joinpath("Letters/index.db").read_text() == "rows"
    assert "Letters/index.db" not in undone.restored


async def test_what_programs_obey_waits(place: Place, api: MessagesAPI) -> None:
    script = "cd /vault/Letters && echo x > .envrc && git init -q nested && echo y > plain.md"
    session, events = await works(place, api, script)
    assert "hooks and repositories wait for the owner" in str(api.conversation[0].body["system"])
    assert [event["title"] for event in events if event["type"] == "warning"] == ["Waiting for you"]
    assert sorted(path.name for path in (place.vault / "Letters").iterdir()) == ["nested", "plain.md"]
    held = {each.root: each.reason for each in await place.core.services.changes.history.held(session)}
    assert held == {"Letters/.envrc": "obeyed", "Letters/nested/.git": "repository"}


async def test_a_second_run_sees_what_others_wrote_since(place: Place, api: MessagesAPI) -> None:
    session, _ = await works(place, api, "cd /vault/Letters; echo one > a; ls b 2>/dev/null; true")
    place.write("Letters/a", "of the owner\n")
    place.write("Letters/b", "new\n")
    _, events = await works(place, api, "cd /vault/Letters; cat a b; echo two > c", session_id=session)
    seen = next(event["content"] for event in events if event["type"] == "tool_result")
    assert seen.startswith("of the owner\nnew\n")
    assert (place.vault / "Letters/c").read_text() == "two\n"
    changes = place.core.services.changes
    await close_session(place.core.services, place.core.preparation, session)
    first = (await changes.history.of_session(session))[-1].found.number
    assert (await changes.undo(session)).restored == ("Letters/c",)
    assert (await changes.undo(session, first)).conflicts == ("Letters/a",)


@pytest.mark.parametrize(("apply", "written", "waits"), [("review", False, 1), ("live", True, 0)])
async def test_the_owner_s_word_on_applying_holds(
    make_place: MakePlace, api: MessagesAPI, apply: str, written: bool, waits: int
) -> None:
    place = await make_place(changes={"apply": apply})
    session, _ = await works(place, api, "echo x > /vault/Letters/a")
    assert (place.vault / "Letters/a").exists() is written
    assert len(await place.core.services.changes.history.held(session)) == waits
