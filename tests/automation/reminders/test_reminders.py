"""Reminders on a clock that the test sets: their words, and that each comes once."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from parachute.automation.reminders.inbox import RemindersSource
from parachute.automation.reminders.models import read_when
from parachute.automation.reminders.service import Reminders
from parachute.events.inbox.models import Answer, Item
from tests.support.clock import ManualClock
from tests.support.errors import raises

ZONE = ZoneInfo("Europe/Berlin")
TUESDAY = datetime(2026, 12, 1, 12, tzinfo=ZONE)
UNREADABLE = (
    {"at": "soon"},
    {"at": "2026-12-24T18:00:00"},
    {"since": "soon"},
    {"after": "soon"},
    {"schedule": "every moonday at 7"},
)


class Desk:
    """Reminders, and the items of the inbox in which they wait."""

    def __init__(self, root: Path, now: datetime = TUESDAY) -> None:
        self.root = root
        self.clock = ManualClock(now, ZONE)
        self.restart()

    def restart(self) -> None:
        """Begin anew with what is on the disk."""
        self.reminders = Reminders(self.root, self.clock, lambda: None)
        self.source = RemindersSource(self.reminders)

    async def items(self, **later: float) -> list[Item]:
        """Let time pass, and look."""
        self.clock.moment += timedelta(**later)
        return list(await self.source.items())

    async def waiting(self, **later: float) -> list[str]:
        """Let time pass, and return what waits, with when it was due."""
        return [f"{each.title} {self.shown(each.details['due'])}" for each in await self.items(**later)]

    async def answer(self, word: str) -> None:
        """Answer what waits."""
        (item,) = await self.source.items()
        await self.source.answer(item, Answer(word, "owner"))

    def shown(self, moment: str) -> str:
        """A moment on the clock on the wall."""
        return datetime.fromisoformat(moment).astimezone(ZONE).strftime("%m-%d %H:%M")

    async def coming(self) -> list[str]:
        """Return when the reminders come next."""
        return [self.shown(each.at) for each in await self.reminders.list()]


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


@pytest.mark.parametrize(
    ("when", "moment", "schedule"),
    [
        ("in 20 minutes", "12-01 12:20", None),
        ("in two hours", "12-01 14:00", None),
        ("In an hour", "12-01 13:00", None),
        ("in 3 days", "12-04 12:00", None),
        ("in a week", "12-08 12:00", None),
        ("18:00", "12-01 18:00", None),
        ("at 9", "12-02 09:00", None),
        ("today at 18:30", "12-01 18:30", None),
        ("tomorrow at 9", "12-02 09:00", None),
        ("tuesday at 9", "12-08 09:00", None),
        ("tuesday at 13", "12-01 13:00", None),
        ("on sunday at 10:15", "12-06 10:15", None),
        ("2026-12-24 18:00", "12-24 18:00", None),
        ("2026-12-24 at 18", "12-24 18:00", None),
        ("every day at 9", "12-02 09:00", "every day at 09:00"),
        ("every weekday at 7", "12-02 07:00", "every weekday at 7"),
        ("0 7 1 * *", "01-01 07:00", "0 7 1 * *"),
    ],
)
async def test_words_of_when_are_read(desk: Desk, when: str, moment: str, schedule: str | None) -> None:
    made = await desk.reminders.add(when, "Bread")
    assert (desk.shown(made.at), made.schedule) == (moment, schedule)


@pytest.mark.parametrize(
    "when",
    ["", "soon", "in two", "in many hours", "tomorrow", "in -1 hours", "2026-02-30 18:00", "yesterday at 9", "25:00"],
)
async def test_what_is_no_time_is_refused_and_changes_nothing(desk: Desk, when: str) -> None:
    with raises("invalid_time"):
        await desk.reminders.add(when, "Bread")
    assert not list(desk.root.iterdir())


@pytest.mark.parametrize("when", ["today at 11", "2026-12-01 12:00", "2020-01-01 00:00", "in 0 hours", "in 0 days"])
async def test_what_is_over_is_refused(desk: Desk, when: str) -> None:
    with raises("reminder_past"):
        await desk.reminders.add(when, "Bread")


@pytest.mark.parametrize("text", ["", "  \n", "\0\x1b", "\ud800", "x" * 501, "x" * 100_000])
async def test_a_reminder_says_something(desk: Desk, text: str) -> None:
    with raises("reminder_text"):
        await desk.reminders.add("in an hour", text)


async def test_control_characters_are_no_text(desk: Desk) -> None:
    made = await desk.reminders.add("in an hour", "Take\n\x1b[31m the\0 \ud83d bread \U0001f468\u200d\U0001f373")
    assert made.text == "Take [31m the  bread \U0001f468\u200d\U0001f373"
    assert [each.text for each in await desk.reminders.list()] == [made.text]


def test_hours_pass_by_the_clock_and_days_by_the_wall() -> None:
    clock = ManualClock(datetime(2026, 10, 24, 12, tzinfo=ZONE), ZONE)
    hours, days = read_when("in 24 hours", clock)[0], read_when("in a day", clock)[0]
    assert (hours - clock.now(), days - clock.now()) == (timedelta(hours=24), timedelta(hours=25))


async def test_one_comes_once_and_is_gone_when_it_is_done(desk: Desk) -> None:
    await desk.reminders.add("in two hours", "Bread")
    assert await desk.waiting(hours=1, minutes=59) == []
    assert await desk.waiting(minutes=1) == ["Bread 12-01 14:00"]
    # Neither a clock that is set back nor a restart takes it away.
    assert await desk.waiting(hours=-5) == ["Bread 12-01 14:00"]
    desk.restart()
    assert await desk.waiting(hours=30) == ["Bread 12-01 14:00"]
    await desk.answer("done")
    assert (await desk.waiting(days=9), await desk.coming()) == ([], [])


async def test_two_of_one_moment_wait_each_for_its_answer(desk: Desk) -> None:
    for text in ("Bread", "Beans"):
        await desk.reminders.add("every day at 14", text)
    # A month without power: each comes once, for the last day.
    assert sorted(await desk.waiting(days=31)) == ["Beans 12-31 14:00", "Bread 12-31 14:00"]
    (first, second) = await desk.items()
    await desk.source.answer(first, Answer("done", "owner"))
    desk.restart()
    assert [each.key for each in await desk.items()] == [second.key]
    await desk.answer("tomorrow")
    assert await desk.coming() == ["01-01 14:00", "01-01 14:00"]


async def test_one_is_put_off(desk: Desk) -> None:
    await desk.reminders.add("at 14:00", "Bread")
    assert await desk.waiting(hours=3) == ["Bread 12-01 14:00"]
    await desk.answer("in_an_hour")
    assert (await desk.waiting(), await desk.coming()) == ([], ["12-01 16:00"])
    assert await desk.waiting(hours=1) == ["Bread 12-01 16:00"]
    await desk.answer("tomorrow")
    assert (await desk.waiting(), await desk.coming()) == ([], ["12-02 16:00"])


async def test_one_that_comes_again_is_told_anew_each_time(desk: Desk) -> None:
    await desk.reminders.add("every weekday at 7", "Bread")
    (first,) = await desk.items(hours=20)
    (same,) = await desk.items(hours=2)
    assert (same.id, same.hash) == (first.id, first.hash)
    # Asleep over two days: the last one is told, as another version of the same item.
    (third,) = await desk.items(days=2)
    assert third.id == first.id
    assert third.hash != first.hash
    assert await desk.waiting() == ["Bread 12-04 07:00"]
    await desk.answer("done")
    assert await desk.coming() == ["12-07 07:00"]


async def test_what_was_done_does_not_come_again_when_the_clock_is_set_back(desk: Desk) -> None:
    await desk.reminders.add("every day at 14", "Bread")
    assert await desk.waiting(hours=3) == ["Bread 12-01 14:00"]
    desk.clock.moment -= timedelta(hours=2)
    await desk.answer("done")
    assert await desk.waiting(hours=5) == []
    assert await desk.coming() == ["12-02 14:00"]


@pytest.mark.parametrize("is_answered_ahead", [False, True])
async def test_a_clock_that_was_far_ahead_does_not_end_it(desk: Desk, is_answered_ahead: bool) -> None:
    await desk.reminders.add("every day at 14", "Bread")
    assert len(await desk.waiting(days=4000)) == 1
    if is_answered_ahead:
        await desk.answer("done")
    desk.clock.moment -= timedelta(days=4000)
    if not is_answered_ahead:
        await desk.answer("done")
    assert await desk.waiting() == []
    assert await desk.coming() == ["12-01 14:00"]
    assert await desk.waiting(hours=2) == ["Bread 12-01 14:00"]


@pytest.mark.parametrize(
    ("zone", "hours", "moment"), [("America/New_York", 6, "12-02 15:00"), ("Asia/Tokyo", 16, "12-03 01:00")]
)
async def test_one_of_a_schedule_comes_by_the_wall_of_where_the_computer_is(
    desk: Desk, zone: str, hours: int, moment: str
) -> None:
    await desk.reminders.add("every day at 9", "Bread")
    assert await desk.waiting(hours=21) == ["Bread 12-02 09:00"]
    await desk.answer("done")
    desk.clock.zone = ZoneInfo(zone)
    assert await desk.coming() == [moment]
    assert await desk.waiting(hours=hours - 1, minutes=59) == []
    assert await desk.waiting(minutes=1) == [f"Bread {moment}"]


async def test_a_week_with_both_changes_of_clocks(tmp_path: Path) -> None:
    for start in (datetime(2026, 3, 26, 12, tzinfo=ZONE), datetime(2026, 10, 22, 12, tzinfo=ZONE)):
        desk = Desk(tmp_path / str(start.month), start)
        desk.root.mkdir()
        await desk.reminders.add("every day at 2:30", "Night")
        came = []
        for step in range(7 * 24 * 6):
            for item in await desk.items(minutes=10):
                came.append(desk.shown(item.details["due"]))
                await desk.source.answer(item, Answer("done", "owner"))
            if step % 100 == 0:
                desk.restart()
        change = "03-29 03:30" if start.month == 3 else "10-25 02:30"
        assert (len(came), len(set(came)), came[2]) == (7, 7, change)


async def test_looking_writes_nothing(desk: Desk) -> None:
    await desk.reminders.add("in two hours", "Bread")
    await desk.waiting(hours=3)
    before = (desk.root / "reminders.json").stat()
    await desk.waiting(hours=3)
    after = (desk.root / "reminders.json").stat()
    assert (after.st_ino, after.st_mtime_ns, after.st_mode & 0o077) == (before.st_ino, before.st_mtime_ns, 0)


async def test_one_is_removed(desk: Desk) -> None:
    made = await desk.reminders.add("in two hours", "Bread")
    await desk.reminders.remove(made.id)
    assert await desk.waiting(days=1) == []
    with raises("no_reminder"):
        await desk.reminders.remove(made.id)


async def test_a_file_that_cannot_be_read_is_kept_and_said(desk: Desk) -> None:
    path = desk.root / "reminders.json"
    good = {"id": "one", "text": "Bread", "at": "2026-12-24T18:00:00.000Z"}
    for wrong in ([], *({"reminders": {"one": good | each}} for each in UNREADABLE)):
        path.write_text(json.dumps(wrong))
        for work in (desk.reminders.list(), desk.reminders.add("in an hour", "Bread"), desk.source.items()):
            with raises("reminders_unreadable"):
                await work
        assert json.loads(path.read_text()) == wrong


async def test_one_that_was_stored_without_the_moment_that_was_seen_to_comes(desk: Desk) -> None:
    stored = {"id": "one", "text": "Bread", "at": "2026-12-01T13:00:00.000Z", "schedule": "every day at 14:00"}
    (desk.root / "reminders.json").write_text(json.dumps({"reminders": {"one": stored}}))
    assert await desk.waiting(hours=2) == ["Bread 12-01 14:00"]
    await desk.answer("done")
    assert await desk.coming() == ["12-02 14:00"]


async def test_there_is_a_most(desk: Desk) -> None:
    made = await desk.reminders.add("in an hour", "Bread")
    entry = json.loads((desk.root / "reminders.json").read_text())["reminders"][made.id]
    entries = {str(number): {**entry, "id": str(number)} for number in range(500)}
    (desk.root / "reminders.json").write_text(json.dumps({"reminders": entries}))
    with raises("too_many_reminders"):
        await desk.reminders.add("in an hour", "Bread")


def test_moments_are_in_utc() -> None:
    assert read_when("in an hour", ManualClock(TUESDAY, ZONE))[0].tzinfo == UTC
