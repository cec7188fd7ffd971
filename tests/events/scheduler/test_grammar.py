"""The words of schedules, and the moments that they mean in zones whose clocks change."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from parachute.events.scheduler.grammar import read_schedule, upcoming
from parachute.events.scheduler.recurrence import Recurrence
from parachute.events.scheduler.times import TimeOfDay
from tests.support.clock import ManualClock
from tests.support.errors import raises

BERLIN = ZoneInfo("Europe/Berlin")
LORD_HOWE = ZoneInfo("Australia/Lord_Howe")


def coming(text: str, now: datetime, count: int = 4, zone: ZoneInfo = BERLIN) -> list[str]:
    """The next moments of a schedule, as a clock on the wall shows them."""
    moments = upcoming(read_schedule(text), ManualClock(now.replace(tzinfo=zone), zone), count)
    return [moment.astimezone(zone).strftime("%m-%d %H:%M") for moment in moments]


# 2026-12-01 is a Tuesday.
@pytest.mark.parametrize(
    ("text", "moments"),
    [
        ("21:30", ["12-01 21:30", "12-02 21:30", "12-03 21:30"]),
        ("daily at 9", ["12-02 09:00", "12-03 09:00", "12-04 09:00"]),
        ("every day at 9:05", ["12-02 09:05", "12-03 09:05", "12-04 09:05"]),
        ("every weekday at 7", ["12-02 07:00", "12-03 07:00", "12-04 07:00", "12-07 07:00"]),
        ("every weekend at 10:15", ["12-05 10:15", "12-06 10:15", "12-12 10:15"]),
        ("Every Monday  and Thursday at 18:30", ["12-03 18:30", "12-07 18:30", "12-10 18:30"]),
        ("every tuesday, friday and sunday at 0", ["12-04 00:00", "12-06 00:00", "12-08 00:00"]),
        ("first sunday of the month at 9", ["12-06 09:00", "01-03 09:00", "02-07 09:00"]),
        ("the last friday of the month at 9", ["12-25 09:00", "01-29 09:00", "02-26 09:00"]),
        ("first day of the month at 6", ["01-01 06:00", "02-01 06:00", "03-01 06:00"]),
        ("last day of the month at 23:59", ["12-31 23:59", "01-31 23:59", "02-28 23:59"]),
        ("every hour", ["12-01 13:00", "12-01 14:00"]),
        ("every 2 hours", ["12-01 14:00", "12-01 16:00"]),
        ("every 20 minutes", ["12-01 12:20", "12-01 12:40", "12-01 13:00"]),
        ("0 7 * * mon-fri", ["12-02 07:00", "12-03 07:00", "12-04 07:00", "12-07 07:00"]),
        ("15 3 29 2 *", ["02-29 03:15"]),
    ],
)
def test_words_are_read(text: str, moments: list[str]) -> None:
    assert coming(text, datetime(2026, 12, 1, 12), len(moments)) == moments


@pytest.mark.parametrize(
    "text",
    [
        "",
        "never",
        "every",
        "every weekday",
        "every weekday at",
        "every weekday at 24",
        "every weekday at 7:5",
        "every weekday at 7pm",
        "every monday thursday at 7",
        "every monday and monday at 7",
        "every moonday at 7",
        "fifth sunday of the month at 9",
        "first sunday at 9",
        "every 5 hours",
        "every 0 hours",
        "every 1 minutes",
        "every 90 minutes",
        "every hours",
        "every \uff12 hours",
        "7",
        "tomorrow at 9",
        "in two hours",
        "@daily",
        "* * * *",
        "0 0 7 * * 1",
        "61 * * * *",
        "0 0 30 2 *",
        "0 0 */30 2 1L",
        "0 7 * * 1-5" + " " * 200 + "x",
        "every weekday at 7\n; rm -rf /",
    ],
)
def test_what_is_no_schedule_is_refused_with_what_may_be_written(text: str) -> None:
    with raises("invalid_time", names="every weekday at 7"):
        read_schedule(text, "schedule.time")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("7:00", "every day at 07:00"),
        ("Every  weekday at 7", "every weekday at 7"),
        ("0 7 * * 1-5", "at 07:00 on Monday through Friday"),
    ],
)
def test_a_schedule_has_words(text: str, words: str) -> None:
    assert read_schedule(text).words == words


def test_only_what_comes_often_is_often() -> None:
    often = {"every 12 hours", "every 30 minutes", "0 7,19 * * *", "*/30 7 * * 1"}
    for text in (*often, "21:30", "every weekday at 7", "first sunday of the month at 9", "0 7 1 * *"):
        assert read_schedule(text).is_often == (text in often)


def test_a_time_of_the_day_stays_one_by_days() -> None:
    assert read_schedule("every day at 21:30") == read_schedule("21:30") == TimeOfDay(21, 30)
    assert isinstance(read_schedule("every sunday at 21:30"), Recurrence)


@pytest.mark.parametrize(
    ("text", "start", "zone", "moments"),
    [
        # Put forward at 02:00: what is left out comes an hour later, and what was there already comes with it.
        ("every sunday at 2:30", datetime(2026, 3, 28), BERLIN, ["03-29 03:30", "04-05 02:30"]),
        ("every 30 minutes", datetime(2026, 3, 29, 1), BERLIN, ["03-29 01:30", "03-29 03:00", "03-29 03:30"]),
        ("every 2 hours", datetime(2026, 3, 29), BERLIN, ["03-29 03:00", "03-29 04:00"]),
        # Put back at 03:00: what comes twice is its first.
        ("every sunday at 2:30", datetime(2026, 10, 24), BERLIN, ["10-25 02:30", "11-01 02:30"]),
        ("every hour", datetime(2026, 10, 25, 1), BERLIN, ["10-25 02:00", "10-25 03:00", "10-25 04:00"]),
        # By half an hour: the order on the wall is not that of the moments.
        ("15,40 2 * * *", datetime(2026, 10, 3, 12), LORD_HOWE, ["10-04 02:40", "10-04 02:45", "10-05 02:15"]),
    ],
)
def test_changes_of_clocks(text: str, start: datetime, zone: ZoneInfo, moments: list[str]) -> None:
    assert coming(text, start, len(moments), zone) == moments


def test_the_last_and_the_next_one_have_none_between_them() -> None:
    for zone in (BERLIN, LORD_HOWE, ZoneInfo("America/Sao_Paulo"), ZoneInfo("Pacific/Apia")):
        for text in (
            "0,30 2,3 * * *",
            "15,40 2 * * *",
            "every 2 hours",
            "every sunday at 0",
            "first sunday of the month at 9",
        ):
            at = read_schedule(text)
            assert isinstance(at, Recurrence)
            for start in (datetime(2011, 12, 28), datetime(2017, 10, 14), datetime(2026, 3, 28), datetime(2026, 10, 2)):
                now = start.replace(tzinfo=UTC)
                for _ in range(30):
                    last, following = at.last(now, zone), at.next(now, zone)
                    assert last <= now < following
                    assert at.last(following - timedelta(seconds=1), zone) == last
                    assert at.next(last, zone) == following
                    now += timedelta(hours=3, minutes=7)
