"""Hooks on the bus, and the one that comes with the computer."""

import datetime
import fcntl
import re
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from parachute.base.database import Database
from parachute.events.bus import store
from parachute.events.bus.service import Events
from parachute.events.hooks import configuration
from tests.support.clock import ManualClock
from tests.support.pipes import lines_in

from .conftest import Place, said

pytestmark = pytest.mark.long

ENDED: dict[str, Any] = {
    "session_id": "4f1c",
    "message_count": 12,
    "started_at": "2026-01-31T09:00:00.000Z",
    "ended_at": "2026-01-31T09:24:10.000Z",
}


@pytest.fixture
def clock() -> ManualClock:
    """The clock of the bus."""
    return ManualClock()


@pytest.fixture
async def events(place: Place, tmp_path: Path, clock: ManualClock) -> AsyncIterator[Events]:
    """A bus on which the hooks are."""
    database = Database(tmp_path / "events.db", store.ALL)
    await database.open()
    made = Events(place.audit, store.EventStore(database, clock), clock=clock)
    await made.start()
    await place.hooks.start(made)
    yield made
    await made.close()
    await database.close()


async def have_run(events: Events, clock: ManualClock) -> None:
    """Wait until the hooks of everything that was published have ended, but for those in the background."""
    await clock.shows(lambda: events.backlog("hooks") == 0, "nothing waits")


async def test_an_event_of_the_bus_runs_its_hooks(
    place: Place, events: Events, clock: ManualClock, tmp_path: Path
) -> None:
    place.script("keep.sh", f"#!/bin/sh\ncat > {tmp_path}/told\n")
    place.write(**{"daily__*": "./keep.sh"})
    await place.approve()
    event = await events.publish("daily.entry.created", {"entry_id": "1"}, source="daily")
    await have_run(events, clock)
    told = said(tmp_path / "told")
    assert (told["id"], told["timestamp"], told["data"]) == (event.id, event.timestamp, {"entry_id": "1"})


async def test_a_hook_that_fails_is_not_run_again(
    place: Place, events: Events, clock: ManualClock, tmp_path: Path
) -> None:
    place.write(daily__a=f"bash -c 'echo x >> {tmp_path}/ran; exit 1'", daily__b=f"touch {tmp_path}/done")
    await place.approve()
    await events.publish("daily.a", {})
    await events.publish("daily.b", {})
    await have_run(events, clock)
    assert (tmp_path / "done").exists()
    assert (tmp_path / "ran").read_text() == "x\n"


async def test_of_many_events_at_once_none_is_left_out(
    place: Place, events: Events, clock: ManualClock, tmp_path: Path
) -> None:
    gate, begun, ran = tmp_path / "gate", tmp_path / "begun", tmp_path / "ran"
    place.script("slow.sh", f"#!/bin/sh\necho x >> {begun}\nflock --shared {gate} true\necho x >> {ran}\n")
    place.write(session__end={"command": "./slow.sh", "async": True, "timeout": 600})
    await place.approve()
    async with lines_in(begun) as line_of_begun, lines_in(ran) as line_of_ran:
        with gate.open("w") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            for number in range(60):
                await events.publish("session.end", {**ENDED, "session_id": str(number)})
            await clock.shows(lambda: events.backlog("hooks") == 10, "fifty have begun or wait in the background")
            # Two are at work.
            assert [await line_of_begun() for _ in range(2)] == ["x", "x"]
        assert [await line_of_ran() for _ in range(60)] == ["x"] * 60
    assert place.messages() == []


async def test_hooks_that_were_asked_before_are_not_run_by_the_bus(
    place: Place, events: Events, clock: ManualClock, tmp_path: Path
) -> None:
    place.write(**{"session__*": f"bash -c 'echo $PARACHUTE_HOOK_EVENT >> {tmp_path}/ran'"})
    await place.approve()
    await events.publish("session.start", {"session_id": "1"})
    await events.publish("session.end", ENDED)
    await have_run(events, clock)
    assert (tmp_path / "ran").read_text() == "session.end\n"


async def test_the_end_of_a_session_becomes_one_line_of_activity(
    place: Place, events: Events, clock: ManualClock
) -> None:
    (place.home.root / "hooks.yaml").unlink(missing_ok=True)
    place.folder.rmdir()
    configuration.install(place.home.root)
    folder = place.vault / ".parachute" / "activity"
    await events.publish("session.end", ENDED)
    await events.publish("session.end", ENDED)
    await events.publish("session.end", {**ENDED, "session_id": "5b2d", "message_count": 1})
    await have_run(events, clock)
    # The other hook of this event asks the computer, which does not run here, sooner or later than this.
    assert [each for each in place.hooks.errors() if each.hook != "summarise"] == []
    local = datetime.datetime.fromisoformat(ENDED["ended_at"]).astimezone()
    (file,) = folder.iterdir()
    assert file.name == f"{local:%Y-%m}.md"
    lines = file.read_text().splitlines()
    assert lines[0] == f"# Activity in {local:%Y-%m}"
    assert lines[2:] == [
        f"- {local:%Y-%m-%d %H:%M} · 12 messages in 24 min · session 4f1c",
        f"- {local:%Y-%m-%d %H:%M} · 1 message in 24 min · session 5b2d",
    ]
    assert file.stat().st_mode & 0o777 == 0o600


async def test_the_default_hook_says_when_it_gets_something_else(place: Place) -> None:
    place.write(daily__x="python -m parachute.hooks.activity_summary")
    await place.fire("daily.x", entry_id="1")
    assert re.match("This is not the end of a session", place.messages()[0])


async def test_the_default_hook_follows_no_link(place: Place, tmp_path: Path) -> None:
    folder = place.vault / ".parachute" / "activity"
    folder.mkdir()
    victim = tmp_path / "victim"
    victim.write_text("mine")
    local = datetime.datetime.fromisoformat(ENDED["ended_at"]).astimezone()
    (folder / f"{local:%Y-%m}.md").symlink_to(victim)
    place.write(session__end="python -m parachute.hooks.activity_summary")
    await place.hooks.fire("session.end", ENDED)
    assert victim.read_text() == "mine"
    assert place.hooks.recent_errors() == 1
