"""The words of a schedule, such as `every weekday at 7`, read into a timetable."""

import re
from collections.abc import Callable
from datetime import date, datetime, tzinfo
from typing import Protocol

from parachute.base.clock import Clock
from parachute.base.errors import InvalidInput
from parachute.events.scheduler.recurrence import Recurrence, comes
from parachute.events.scheduler.times import TimeOfDay

WEEKDAYS = ("sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday")
TIME = r"(?P<hour>[01]?[0-9]|2[0-3])(?::(?P<minute>[0-5][0-9]))?"

_LONGEST = 100
_ONE = "|".join(WEEKDAYS)
_NTH = {"first": "1", "second": "2", "third": "3", "fourth": "4", "last": "L"}
_MINUTES, _HOURS = (5, 10, 15, 20, 30), (1, 2, 3, 4, 6, 8, 12)
"""Steps that fit into an hour and a day."""

EXAMPLES = (
    '"21:30", "every weekday at 7", "every monday and thursday at 18:30", "first sunday of the month at 9", '
    '"last day of the month at 18", "every 2 hours", or five fields of cron such as "0 7 * * 1-5"'
)


class Timetable(Protocol):
    """A schedule of any kind; it counts what it brings by days, or by moments."""

    @property
    def words(self) -> str:
        """The schedule for people."""

    @property
    def is_often(self) -> bool:
        """True if it can come several times on a day."""

    def last(self, now: datetime, zone: tzinfo | None = None) -> date:
        """The newest day or moment that is not to come."""

    def next(self, now: datetime, zone: tzinfo | None = None) -> datetime:
        """The first moment after this one, in UTC."""

    def latest(self, now: datetime, zone: tzinfo | None = None) -> date:
        """The newest day or moment that a clock which is right can have seen."""

    def read(self, text: str) -> date:
        """Read a day or a moment from a state; error: ValueError."""


def read_schedule(text: str, field: str = "time") -> Timetable:
    """Read a schedule; error: InvalidInput that says what may be written."""
    if len(text) <= _LONGEST:
        words = " ".join(text.lower().split())
        for pattern, made in _FORMS:
            if (match := pattern.fullmatch(words)) and (found := made(words, match)):
                return found
        if comes(words):
            return Recurrence(words, words)
    raise InvalidInput(
        f"{field}: {text[:60]!r} is no time of the day and no schedule; write {EXAMPLES}.", key="invalid_time"
    )


def upcoming(at: Timetable, clock: Clock, count: int = 3) -> list[datetime]:
    """The next moments of a schedule."""
    found: list[datetime] = []
    for _ in range(count):
        found.append(at.next(found[-1] if found else clock.now(), clock.zone))
    return found


def time_of(match: re.Match[str]) -> TimeOfDay:
    """The time of the day that `TIME` has read."""
    return TimeOfDay(int(match["hour"]), int(match["minute"] or 0))


def _each_day(words: str, match: re.Match[str]) -> Timetable:
    return time_of(match)


def _on_days(words: str, match: re.Match[str]) -> Timetable | None:
    at, days = time_of(match), match["days"]
    if days in ("weekday", "weekend"):
        return Recurrence(words, f"{at.minute} {at.hour} * * {'1-5' if days == 'weekday' else '0,6'}")
    named = [WEEKDAYS.index(day) for day in re.findall(_ONE, days)]
    if len(set(named)) < len(named):
        return None
    return Recurrence(words, f"{at.minute} {at.hour} * * {','.join(map(str, named))}")


def _in_month(words: str, match: re.Match[str]) -> Timetable:
    at, nth, day = time_of(match), _NTH[match["nth"]], match["day"]
    if day == "day":
        return Recurrence(words, f"{at.minute} {at.hour} {nth} * *")
    number = WEEKDAYS.index(day)
    return Recurrence(words, f"{at.minute} {at.hour} * * {number}{'L' if nth == 'L' else f'#{nth}'}")


def _every(words: str, match: re.Match[str]) -> Timetable | None:
    count, is_hours = int(match["count"] or 1), match["unit"] != "minutes"
    if count not in (_HOURS if is_hours else _MINUTES):
        return None
    return Recurrence(words, f"0 */{count} * * *" if is_hours else f"*/{count} * * * *")


_FORMS: tuple[tuple[re.Pattern[str], Callable[[str, re.Match[str]], Timetable | None]], ...] = (
    (re.compile(r"(?P<hour>[01]?[0-9]|2[0-3]):(?P<minute>[0-5][0-9])"), _each_day),
    (re.compile(rf"(?:daily|every day) at {TIME}"), _each_day),
    (re.compile(rf"every (?P<days>weekday|weekend|(?:{_ONE})(?:(?:,| and|, and) (?:{_ONE}))*) at {TIME}"), _on_days),
    (re.compile(rf"(?:the )?(?P<nth>{'|'.join(_NTH)}) (?P<day>day|{_ONE}) of the month at {TIME}"), _in_month),
    (re.compile(r"every (?:hour|(?P<count>[0-9]{1,2}) (?P<unit>hours|minutes))"), _every),
)
