"""Surroundings of an update: its item in the inbox, the link that shells find, and the job of the night."""

import sys
from collections.abc import Callable
from contextlib import nullcontext
from datetime import date
from pathlib import Path

import pytest
from msgspec.structs import replace

from parachute.base.clock import SYSTEM
from parachute.config.settings.home import Home
from parachute.events.inbox.models import Answer
from parachute.ops.rehearsal.models import Check, Rehearsal
from parachute.ops.updates.inbox import UpdatesSource
from parachute.ops.updates.journal import Journal
from parachute.ops.updates.models import ENDS, Phase, Update, Version
from parachute.ops.updates.nightly import Nightly
from parachute.ops.updates.orders import Orders
from parachute.ops.updates.program_link import repoint
from parachute.ops.updates.service import Updates
from parachute.ops.updates.versions import running
from parachute.supervisor import control
from tests.support.errors import raises
from tests.support.small_disk import small_disk

pytestmark = pytest.mark.process

OLD, NEW = Version("old", Path(sys.prefix)), Version("new", Path("/new"))
NOW = "2026-11-25T04:30:00.000Z"


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path / "state")


def ended(phase: Phase, problem: str | None = None) -> Update:
    return Update(phase=phase, old=OLD, new=NEW, began=NOW, at=NOW, problem=problem)


async def test_an_update_that_came_back_waits_until_it_was_seen(home: Home) -> None:
    journal, source = Journal(home.root), UpdatesSource(home)
    assert await source.items() == []
    journal.write(ended(Phase.BACK, "It did not answer."))
    (item,) = await source.items()
    assert item.title == "The update came back: It did not answer."
    await source.answer(item, Answer(item.answers[0], "owner"))
    assert await source.items() == []


@pytest.mark.parametrize("phase", [Phase.PUTTING, Phase.PROBATION, Phase.RETURNING])
async def test_an_update_that_nobody_watches_over_waits(home: Home, phase: Phase) -> None:
    journal, source = Journal(home.root), UpdatesSource(home)
    journal.write(ended(phase))
    with journal.held():
        assert await source.items() == []
    assert len(await source.items()) == 1


@pytest.mark.parametrize("phase", [Phase.DONE, Phase.REFUSED, Phase.NEWEST, Phase.CANCELLED, Phase.BACK])
async def test_a_good_end_and_one_that_the_owner_wanted_wait_for_nobody(home: Home, phase: Phase) -> None:
    Journal(home.root).write(ended(phase))
    assert await UpdatesSource(home).items() == []


def test_only_a_link_to_the_old_version_leads_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    old = Version("old", tmp_path / "old")
    program, link = old.prefix / "bin" / "parachute", tmp_path / ".local" / "bin" / "parachute"
    for path in (program, link):
        path.parent.mkdir(parents=True)
    program.touch()
    link.symlink_to("/usr/bin/env")
    repoint(old, tmp_path / "current")
    assert link.readlink() == Path("/usr/bin/env")
    link.unlink()
    link.symlink_to(program)
    repoint(old, tmp_path / "current")
    assert link.readlink() == tmp_path / "current" / "bin" / "parachute"


async def test_the_night_asks_the_supervisor_once(home: Home) -> None:
    home.root.mkdir()
    asked: list[dict[str, object]] = []

    async def answer(request: dict[str, object]) -> dict[str, object]:
        asked.append(request)
        return {}

    server = await control.serve(home, answer)
    nightly = Nightly(home, "04:30", SYSTEM)
    (job,) = await nightly.jobs()
    tonight = date(2999, 1, 1)
    await job.run(tonight, False)
    server.close()
    assert [(each["operation"], each["source"]) for each in asked] == [("update", None)]
    (job,) = await nightly.jobs()
    assert job.taken == tonight


async def test_where_the_newest_version_runs_nothing_is_done(home: Home, tmp_path: Path) -> None:
    home.root.mkdir()
    journal = Journal(home.root)
    journal.write(replace(ended(Phase.DONE), previous=OLD))

    async def answer(_: dict[str, object]) -> dict[str, object]:
        address = {"main_server_host": "127.0.0.1", "main_server_port": 1, "main_server_healthy": False}
        return {**address, "units": []}

    async def never(new: Version, report: Callable[[Check], None]) -> Rehearsal:
        raise AssertionError(new)

    server = await control.serve(home, answer)
    update = await Updates(home, tmp_path / "vault", never, 1).run(running())
    server.close()
    assert (update.phase, update.problem, update.previous) == (Phase.NEWEST, None, OLD)
    assert update.phase in ENDS
    assert journal.read() == update


async def test_on_a_full_disk_none_begins(tmp_path: Path) -> None:
    with small_disk(tmp_path) as disk:
        disk.fill()
        with raises("disk_full", names="64"):
            await Orders(Home(tmp_path)).begin()


@pytest.mark.parametrize(
    ("phase", "is_held", "orders"), [(Phase.BLESSING, False, 1), (Phase.BLESSING, True, 0), (Phase.DONE, False, 0)]
)
async def test_one_that_was_cut_off_at_its_end_goes_on_with_the_next_start(
    home: Home, phase: Phase, is_held: bool, orders: int
) -> None:
    journal, asked = Journal(home.root), []

    async def answer(request: dict[str, object]) -> dict[str, object]:
        asked.append((request["operation"], request["ordered"]))
        return {}

    journal.write(ended(phase))
    server = await control.serve(home, answer)
    with journal.held() if is_held else nullcontext():
        await Orders(home).take_up()
    server.close()
    assert asked == [("update", NOW)] * orders
