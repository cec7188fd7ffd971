"""A week on a clock that the test sets, across both changes of daylight saving, with every kind of schedule once each."""

import contextlib
from collections import defaultdict
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tests.automation.scheduled_agents.test_schedule import ZONE, Nursery, Silence
from tests.support.waiting import SECONDS as DEADLINE

pytestmark = [pytest.mark.long, pytest.mark.timeout(10 * DEADLINE)]

SCHEDULES = {
    "page": "02:30",
    "weekday": "every weekday at 7",
    "named": "every monday and thursday at 18:30",
    "month": "last sunday of the month at 2:30",
    "hours": "every 2 hours",
    "cron": "*/30 1-3 * * 0",
}


class Week:
    """A nursery with an agent of each kind of schedule, and what each of them did when."""

    def __init__(self, nursery: Nursery, start: datetime) -> None:
        self.nursery = nursery
        for name, schedule in SCHEDULES.items():
            nursery.write(f'---\nschedule: {{time: "{schedule}"}}\n---\nLook back.\n', name)
        self.clock = nursery.clock
        self.clock.moment = start.astimezone(UTC)
        self.ran: dict[str, list[str]] = defaultdict(list)

    @contextlib.asynccontextmanager
    async def on(self) -> AsyncIterator[None]:
        """The computer, switched on."""
        async with self.nursery.core(Silence()):
            await self.look()
            yield

    def shown(self) -> str:
        """The clock on the wall, with a mark for the second time that it shows this."""
        wall = self.clock.moment.astimezone(ZONE)
        return f"{wall:%d %H:%M}{'*' if wall.fold else ''}"

    async def look(self) -> None:
        """Note what runs now."""
        before = len(self.nursery.agents.tasks)
        await self.nursery.look()
        for task in self.nursery.agents.tasks[before:]:
            self.ran[task.path.removeprefix("agents/").removesuffix(".md")].append(self.shown())

    async def until(self, shown: str) -> None:
        """Let ten minutes pass, again and again, until the clock on the wall shows this."""
        while self.shown() != shown:
            self.clock.moment += timedelta(minutes=10)
            await self.look()

    def jump(self, **by: float) -> None:
        """Set the clock, or sleep."""
        self.clock.moment += timedelta(**by)


@pytest.fixture
def nursery(tmp_path: Path) -> Nursery:
    return Nursery(tmp_path)


def hours(*walls: str) -> list[str]:
    """Moments as `DAY HOUR:00`, with all even hours of a day written as its number alone."""
    return [
        moment
        for wall in walls
        for moment in ([f"{wall} {hour:02}:00" for hour in range(0, 24, 2)] if len(wall) == 2 else [wall])
    ]


async def live(week: Week, days: tuple[str, ...]) -> None:
    """From Thursday noon to the next one: two nights of power, a change, a sleep, a jump back, and a restart."""
    _, friday, _, _, monday, tuesday, wednesday, thursday = days
    async with week.on():
        await week.until(f"{friday} 06:10")
        week.jump(hours=3)  # asleep over seven and eight
        await week.look()
        await week.until(f"{monday} 12:00")
        week.jump(hours=-6)  # set back over seven, eight, ten and twelve
        await week.look()
        await week.until(f"{tuesday} 06:50")
    week.jump(minutes=30)  # switched off over seven
    async with week.on():
        await week.until(f"{wednesday} 23:00")
    async with week.on():
        await week.until(f"{thursday} 12:00")


async def test_in_spring_each_schedule_comes_once(nursery: Nursery) -> None:
    week = Week(nursery, datetime(2026, 3, 26, 12, tzinfo=ZONE))
    await live(week, ("26", "27", "28", "29", "30", "31", "01", "02"))
    assert week.ran == {
        "page": ["27 02:30", "28 02:30", "29 03:30", "30 02:30", "31 02:30", "01 02:30", "02 02:30"],
        "weekday": ["27 09:10", "30 07:00", "31 07:20", "01 07:00", "02 07:00"],
        "named": ["26 18:30", "30 18:30"],
        "month": ["29 03:30"],
        "hours": hours(
            *[f"26 {hour}:00" for hour in range(14, 24, 2)],
            *[f"27 0{hour}:00" for hour in range(0, 8, 2)],
            "27 09:10",
            *[f"27 {hour}:00" for hour in range(10, 24, 2)],
            "28",
            "29 00:00",
            "29 03:00",
            *[f"29 {hour:02}:00" for hour in range(4, 24, 2)],
            "30",
            "31",
            "01",
            *[f"02 {hour:02}:00" for hour in range(0, 14, 2)],
        ),
        "cron": ["29 01:00", "29 01:30", "29 03:00", "29 03:30"],
    }


async def test_in_autumn_each_schedule_comes_once(nursery: Nursery) -> None:
    week = Week(nursery, datetime(2026, 10, 22, 12, tzinfo=ZONE))
    await live(week, ("22", "23", "24", "25", "26", "27", "28", "29"))
    assert week.ran == {
        "page": [f"{day} 02:30" for day in range(23, 30)],
        "weekday": ["23 09:10", "26 07:00", "27 07:20", "28 07:00", "29 07:00"],
        "named": ["22 18:30", "26 18:30"],
        "month": ["25 02:30"],
        "hours": hours(
            *[f"22 {hour}:00" for hour in range(14, 24, 2)],
            *[f"23 0{hour}:00" for hour in range(0, 8, 2)],
            "23 09:10",
            *[f"23 {hour}:00" for hour in range(10, 24, 2)],
            "24",
            "25",
            "26",
            "27",
            "28",
            *[f"29 {hour:02}:00" for hour in range(0, 14, 2)],
        ),
        "cron": ["25 01:00", "25 01:30", "25 02:00", "25 02:30", "25 03:00", "25 03:30"],
    }
