"""An update that was cut off: what the next start of the version before writes down, and who reads it."""

import sys
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path

import pytest

from parachute.config.settings.home import Home
from parachute.ops.rehearsal.models import Check, Rehearsal
from parachute.ops.updates.journal import Journal
from parachute.ops.updates.models import Phase, Update, Version
from parachute.ops.updates.orders import Orders
from parachute.ops.updates.service import Updates
from parachute.ops.updates.starting import finish
from parachute.ops.updates.versions import Versions, running

pytestmark = pytest.mark.process

OLD, NEW = Version("old", Path(sys.prefix)), Version("new", Path("/new"))
EARLY, BEFORE = "2026-11-25T04:00:00.000Z", "2026-11-25T04:29:59.000Z"
NOW, LATER = "2026-11-25T04:30:00.000Z", "2026-11-25T04:30:01.000Z"


async def never(new: Version, report: Callable[[Check], None]) -> Rehearsal:
    raise AssertionError


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path / "state")


def written(home: Home, phase: Phase, problem: str | None, manager: str = "systemd") -> Journal:
    journal = Journal(home.root)
    journal.write(Update(phase=phase, old=OLD, new=NEW, began=EARLY, at=NOW, problem=problem, manager=manager))
    return journal


@pytest.mark.parametrize(
    ("phase", "problem", "ended"),
    [
        (Phase.PROBATION, None, "The computer was stopped or restarted during the probation of the new version."),
        (Phase.RETURNING, "It did not answer.", "It did not answer."),
        (Phase.RETURNING, None, None),
    ],
)
def test_one_that_nobody_watches_any_more_has_come_back(
    home: Home, tmp_path: Path, phase: Phase, problem: str | None, ended: str | None
) -> None:
    journal = written(home, phase, problem)
    finish(home, tmp_path)
    update = journal.read()
    assert update is not None
    assert (update.phase, update.problem) == (Phase.BACK, ended)


def test_the_program_is_the_version_before_again(home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    versions = Versions(home)
    versions.link(NEW)
    written(home, Phase.RETURNING, None)
    finish(home, tmp_path)
    assert versions.current.readlink() == OLD.prefix


@pytest.mark.parametrize("phase", [Phase.PROBATION, Phase.RETURNING])
async def test_one_whose_version_before_is_gone_is_left_alone(
    home: Home, tmp_path: Path, phase: Phase, caplog: pytest.LogCaptureFixture
) -> None:
    """The version before is missing: the journal came with a backup of another machine, or somebody has removed it."""
    journal = Journal(home.root)
    journal.write(Update(phase=phase, old=Version("gone", Path("/gone")), new=NEW, began=NOW, at=NOW))
    await Orders(home).take_up()
    assert caplog.records == []  # nobody would have heard an order
    update = await Updates(home, tmp_path, never, 1).run(Path("/nowhere"))
    assert (update.phase, update.old) == (Phase.REFUSED, running())


@pytest.mark.parametrize(("manager", "is_held"), [("systemd", True), ("nixos", False)])
def test_whoever_takes_it_back_writes_down_the_end(home: Home, tmp_path: Path, manager: str, is_held: bool) -> None:
    journal = written(home, Phase.RETURNING, None, manager)
    with journal.held() if is_held else nullcontext():
        finish(home, tmp_path)
    update = journal.read()
    assert update is not None
    assert update.phase is Phase.RETURNING


@pytest.mark.parametrize(("ordered", "begins"), [(BEFORE, False), (LATER, True)])
async def test_who_was_killed_and_is_started_anew_does_not_begin_it_again(
    home: Home, tmp_path: Path, ordered: str, begins: bool
) -> None:
    written(home, Phase.BACK, "It did not answer.")
    update = await Updates(home, tmp_path, never, 1, ordered=ordered).run(Path("/nowhere"))
    assert (update.phase is Phase.REFUSED) is begins
    assert (update.began > NOW) is begins
