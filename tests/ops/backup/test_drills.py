"""The drill by the server's own clock: the first morning after the first backup, then when the last one is too long ago."""

import json
from datetime import UTC, date, datetime

import pytest

from parachute.config.settings.home import Home
from parachute.events.scheduler.service import Scheduler
from parachute.ops.backup.drills import Drills
from parachute.ops.backup.jobs import BackupJobs
from tests.support.clock import ManualClock
from tests.support.waiting import until

from .installation import Installation

pytestmark = pytest.mark.process


def drills(installation: Installation) -> tuple[Drills, BackupJobs]:
    jobs = BackupJobs(Home(installation.home), lambda: None)
    return Drills(Home(installation.home), jobs), jobs


async def due(found: Drills, moment: str) -> tuple[date, bool] | None:
    """Return the drill that is due at a moment, in UTC."""
    clock = ManualClock(datetime.fromisoformat(moment))
    return next((job.due(clock) for job in await found.jobs(clock)), None)


def note(installation: Installation, **ended: str) -> None:
    """Operations that have ended well, and when."""
    entries = {
        name: {"at": moment, "result": "ok", "message": None, "succeeded_at": moment, "last": "abcd1234"}
        for name, moment in ended.items()
    }
    (installation.places.folder / "state.json").write_text(json.dumps({"version": 1, **entries}))


async def test_a_drill_is_due_when_the_last_one_is_too_long_ago(installation: Installation) -> None:
    found, _ = drills(installation)
    assert await due(found, "2026-06-01T12:00:00+00:00") is None, "there is no backup"
    note(installation, create="2026-06-01T12:00:00.000Z")
    assert await due(found, "2026-06-02T05:00:00+00:00") is None
    assert await due(found, "2026-06-02T05:20:00+00:00") == (date(2026, 6, 2), False)
    note(installation, create="2026-07-04T03:30:00.000Z", drill="2026-06-02T05:30:00.000Z")
    assert await due(found, "2026-07-03T23:00:00+00:00") is None
    assert await due(found, "2026-07-05T05:20:00+00:00") == (date(2026, 7, 5), False)
    config = installation.home / "config.yaml"
    config.write_text(config.read_text().replace("backup:\n", "backup:\n  drill: weekly\n"))
    assert await due(found, "2026-06-11T05:20:00+00:00") == (date(2026, 6, 11), False)
    config.write_text("nonsense: [")
    assert await due(found, "2026-06-11T05:20:00+00:00") is None


async def test_what_is_due_is_begun_once_a_day_whatever_becomes_of_it(installation: Installation) -> None:
    note(installation, create="2026-06-01T12:00:00.000Z")
    installation.access.password_file.unlink()
    found, jobs = drills(installation)
    scheduler = Scheduler(ManualClock(datetime(2026, 6, 2, 6, tzinfo=UTC)))
    scheduler.add(lambda: found.jobs(scheduler.clock))
    await scheduler.run_due()

    async def has_failed() -> bool:
        return jobs.running is None and jobs.problem is not None

    await until(has_failed, "the drill has failed")
    assert "password" in str(jobs.problem)
    jobs.problem = None
    await scheduler.run_due()
    assert (jobs.running, jobs.problem) == (None, None)
    await scheduler.close()
    await jobs.close()
