"""The scheduler with a clock that the test sets: what begins, and what does not begin twice."""

import asyncio
from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parachute.base.errors import Unavailable
from parachute.events.scheduler.service import Job, Scheduler
from parachute.events.scheduler.times import TimeOfDay, last_due
from parachute.security.kill_switch.switch import KillSwitch, Stopped
from tests.support.clock import ManualClock

ZONE = ZoneInfo("America/St_Johns")
NOON = datetime(2026, 11, 1, 12, tzinfo=ZONE).astimezone(UTC)
THREE = TimeOfDay(3, 0)


class Diary:
    """A source with one job, which notes its days; `gate` holds its runs up."""

    def __init__(self, now: datetime = NOON, at: TimeOfDay = THREE) -> None:
        self.at = at
        self.clock = ManualClock(now, ZONE)
        self.taken = last_due(at, now, ZONE)
        self.days: list[tuple[date, bool]] = []
        self.retry: datetime | None = None
        self.fails_with: Exception | None = None
        self.gate = asyncio.Event()
        self.gate.set()
        self.ran = asyncio.Event()

    async def jobs(self) -> Sequence[Job]:
        return [Job("diary", self.at, self.taken, self._run, self.retry)]

    async def _run(self, day: date, again: bool) -> None:
        self.taken, self.retry = day, None
        self.days.append((day, again))
        self.ran.set()
        await self.gate.wait()
        if self.fails_with is not None:
            raise self.fails_with


async def looked(diary: Diary, scheduler: Scheduler) -> list[tuple[date, bool]]:
    """Return the runs that one look begins and ends."""
    before = len(diary.days)
    await scheduler.run_due()
    while scheduler.running and diary.gate.is_set():
        await asyncio.sleep(0)
    return diary.days[before:]


def scheduler_of(diary: Diary) -> Scheduler:
    scheduler = Scheduler(diary.clock)
    scheduler.add(diary.jobs)
    return scheduler


async def test_it_is_due_once_a_day() -> None:
    diary = Diary()
    scheduler = scheduler_of(diary)
    assert await looked(diary, scheduler) == []
    diary.clock.moment = TimeOfDay(3, 0).on(date(2026, 11, 2), ZONE) - timedelta(seconds=1)
    assert await looked(diary, scheduler) == []
    diary.clock.moment += timedelta(seconds=1)
    assert await looked(diary, scheduler) == [(date(2026, 11, 2), False)]
    diary.clock.moment += timedelta(hours=20)
    assert await looked(diary, scheduler) == []


async def test_of_missed_days_the_last_one_is_made_up_for() -> None:
    diary = Diary()
    scheduler = scheduler_of(diary)
    diary.clock.moment += timedelta(days=9)
    assert await looked(diary, scheduler) == [(date(2026, 11, 10), False)]
    assert await looked(diary, scheduler) == []


async def test_one_that_runs_is_not_begun_again() -> None:
    diary = Diary()
    scheduler = scheduler_of(diary)
    diary.gate.clear()
    for _ in range(3):
        diary.clock.moment += timedelta(days=1)
        await scheduler.run_due()
        await asyncio.wait_for(diary.ran.wait(), 60)
    assert [day for day, _ in diary.days] == [date(2026, 11, 2)]
    diary.gate.set()
    while scheduler.running:
        await asyncio.sleep(0)
    assert await looked(diary, scheduler) == [(date(2026, 11, 4), False)]


async def test_one_that_failed_is_tried_again_when_it_is_time() -> None:
    diary = Diary()
    scheduler = scheduler_of(diary)
    diary.retry = diary.clock.moment + timedelta(minutes=10)
    assert await looked(diary, scheduler) == []
    diary.clock.moment += timedelta(minutes=10)
    assert await looked(diary, scheduler) == [(date(2026, 11, 1), True)]
    # A day that is due by now goes before another try of the one before.
    diary.retry = diary.clock.moment
    diary.clock.moment += timedelta(days=1)
    assert await looked(diary, scheduler) == [(date(2026, 11, 2), False)]


async def test_what_fails_stops_nothing_else() -> None:
    async def broken() -> Sequence[Job]:
        raise Unavailable("The list is away.")

    diary = Diary()
    diary.fails_with = RuntimeError("no paper")
    scheduler = Scheduler(diary.clock)
    scheduler.add(broken)
    scheduler.add(diary.jobs)
    for day in (2, 3):
        diary.clock.moment += timedelta(days=1)
        assert await looked(diary, scheduler) == [(date(2026, 11, day), False)]


async def test_it_looks_by_itself_and_ends_what_runs() -> None:
    diary = Diary()
    scheduler = Scheduler(diary.clock)
    scheduler.start()
    scheduler.add(diary.jobs)
    diary.gate.clear()
    diary.clock.moment += timedelta(days=1)
    scheduler.reload()
    await asyncio.wait_for(diary.ran.wait(), 60)
    assert scheduler.running == {"diary"}
    await asyncio.wait_for(scheduler.close(), 60)
    assert scheduler.running == frozenset()


async def test_it_looks_again_after_a_while() -> None:
    diary = Diary()
    scheduler = scheduler_of(diary)
    scheduler.start()
    await diary.clock.advance(0)
    diary.clock.moment += timedelta(days=1)
    await diary.clock.advance(59)
    assert not diary.days
    await diary.clock.advance(1)
    assert diary.days == [(date(2026, 11, 2), False)]
    await scheduler.close()


@given(
    st.builds(TimeOfDay, st.integers(0, 23), st.integers(0, 59)),
    st.datetimes(datetime(2005, 1, 1), datetime(2012, 1, 1), timezones=st.just(UTC)),
    st.lists(st.timedeltas(timedelta(), timedelta(days=2)), max_size=40),
)
def test_each_day_runs_at_most_once_and_none_that_was_looked_at_is_left_out(
    at: TimeOfDay, start: datetime, steps: list[timedelta]
) -> None:
    async def check() -> None:
        diary = Diary(start, at)
        scheduler = scheduler_of(diary)
        expected = []
        for step in steps:
            diary.clock.moment += step
            due = last_due(at, diary.clock.moment, ZONE)
            if due > diary.taken:
                expected.append((due, False))
            await looked(diary, scheduler)
        assert diary.days == expected
        assert len({day for day, _ in diary.days}) == len(diary.days)
        assert diary.taken == last_due(at, diary.clock.moment, ZONE)

    asyncio.run(check())


async def test_what_is_due_while_all_agents_are_stopped_begins_afterwards(tmp_path: Path) -> None:
    diary, kill_switch = Diary(), KillSwitch(tmp_path)
    scheduler = Scheduler(diary.clock, kill_switch=kill_switch)
    scheduler.add(diary.jobs)
    kill_switch.engage("the command line")
    diary.clock.moment += timedelta(days=3)
    assert await looked(diary, scheduler) == []
    with pytest.raises(Stopped):
        scheduler.check()
    kill_switch.release()
    scheduler.check()
    assert await looked(diary, scheduler) == [(date(2026, 11, 4), False)]
    await scheduler.close()
