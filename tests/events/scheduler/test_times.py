"""Times of the day in zones whose clocks are put forward and back, over midnight and by whole days too."""

from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parachute.events.scheduler.times import TimeOfDay, last_due, next_due
from tests.support.errors import raises

BERLIN = ZoneInfo("Europe/Berlin")
# Of these, the first has its change at one minute past midnight, the second left out a day, the third changes by half an hour.
ZONES = ("America/St_Johns", "Pacific/Apia", "Australia/Lord_Howe", "America/Sao_Paulo", "Europe/Berlin", "UTC")

times = st.builds(TimeOfDay, st.integers(0, 23), st.integers(0, 59))
zones = st.sampled_from(ZONES).map(ZoneInfo)
moments = st.datetimes(datetime(2005, 1, 1), datetime(2030, 1, 1), timezones=st.just(UTC))


@pytest.mark.parametrize(
    ("text", "shown"), [("03:00", "03:00"), ("3:05", "03:05"), ("23:59", "23:59"), ("00:00", "00:00")]
)
def test_a_time_is_read(text: str, shown: str) -> None:
    assert str(TimeOfDay.parse(text)) == shown


@pytest.mark.parametrize("text", ["", "24:00", "3", "3:5", "03:60", "03:00:00", "-1:00", "\uff13:00", "03:00\n"])
def test_what_is_no_time_is_refused(text: str) -> None:
    with raises("invalid_time", names=r"schedule\.time"):
        TimeOfDay.parse(text, "schedule.time")


def test_a_time_that_is_left_out_comes_as_much_later() -> None:
    at = TimeOfDay(2, 30).on(date(2026, 3, 29), BERLIN)
    assert at.astimezone(BERLIN).strftime("%H:%M") == "03:30"
    assert last_due(TimeOfDay(2, 30), at - timedelta(seconds=1), BERLIN) == date(2026, 3, 28)
    assert last_due(TimeOfDay(2, 30), at, BERLIN) == date(2026, 3, 29)


def test_a_time_that_comes_twice_counts_once() -> None:
    at = TimeOfDay(2, 30)
    first = at.on(date(2026, 10, 25), BERLIN)
    second = first + timedelta(hours=1)
    assert [moment.astimezone(BERLIN).strftime("%H:%M") for moment in (first, second)] == ["02:30", "02:30"]
    assert last_due(at, first, BERLIN) == last_due(at, second, BERLIN) == date(2026, 10, 25)
    assert next_due(at, first, BERLIN) == at.on(date(2026, 10, 26), BERLIN)


@given(times, moments, zones)
def test_what_is_due_last_is_past_and_what_is_next_is_not(at: TimeOfDay, now: datetime, zone: ZoneInfo) -> None:
    day = last_due(at, now, zone)
    assert at.on(day, zone) <= now < next_due(at, now, zone)
    assert next_due(at, now, zone) - now <= timedelta(hours=26)


@given(times, moments, zones, st.timedeltas(timedelta(), timedelta(days=3)))
def test_a_later_moment_never_gives_an_earlier_day(
    at: TimeOfDay, now: datetime, zone: ZoneInfo, later: timedelta
) -> None:
    assert last_due(at, now, zone) <= last_due(at, now + later, zone)


def test_without_a_zone_it_is_that_of_the_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    import time

    monkeypatch.setenv("TZ", "America/St_Johns")
    time.tzset()
    try:
        zone = ZoneInfo("America/St_Johns")
        for day in (date(2026, 3, 8), date(2026, 7, 1), date(2026, 11, 1)):
            for at in (TimeOfDay(1, 30), TimeOfDay(2, 30), TimeOfDay(21, 0)):
                assert at.on(day) == at.on(day, zone)
    finally:
        monkeypatch.undo()
        time.tzset()
