"""A reminder, and the words for its time."""

import re
from datetime import datetime, timedelta

from parachute.base.answers import Answer
from parachute.base.clock import Clock
from parachute.base.errors import InvalidInput
from parachute.events.scheduler.grammar import EXAMPLES, TIME, WEEKDAYS, Timetable, read_schedule, time_of
from parachute.events.scheduler.recurrence import moment_of

_WORDS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
_NUMBERS = {"a": 1, "an": 1} | {word: number for number, word in enumerate(_WORDS, 1)}
_DAY = timedelta(days=1)
_IN = re.compile(rf"in (?P<count>{'|'.join(_NUMBERS)}|[0-9]{{1,3}}) (?P<unit>minute|hour|day|week)s?")
_ON = re.compile(
    rf"(?:(?:on )?(?P<day>today|tomorrow|{'|'.join(WEEKDAYS)}) )?at {TIME}|(?P<alone>[0-9]{{1,2}}:[0-9]{{2}})"
)
_DATE = re.compile(rf"(?P<date>20[0-9]{{2}}-[0-9]{{2}}-[0-9]{{2}})(?: at)? {TIME}")
_WHEN = '"in 20 minutes", "in two hours", "at 18:00", "tomorrow at 9", "friday at 9", "2026-12-24 18:00"'


class Reminder(Answer, frozen=True):
    """A reminder of the owner; times are in UTC.

    `at` is when it comes next, `since` when it came, while it waits to be answered. `schedule` is that of one that comes again
    and again, null for others; `after` is the moment whose next one on the schedule is `at`, null for one that was put off.
    """

    id: str
    text: str
    at: str
    schedule: str | None = None
    since: str | None = None
    after: str | None = None

    def check(self) -> None:
        """Check what has been read from a file; errors: ValueError, InvalidInput."""
        for text in (self.at, self.since, self.after):
            if text is not None and datetime.fromisoformat(text).tzinfo is None:
                raise ValueError(f"{text} has no zone")
        if self.schedule is not None:
            read_schedule(self.schedule)


def read_when(text: str, clock: Clock) -> tuple[datetime, Timetable | None]:
    """Read when a reminder comes first, and the schedule of one that comes again; error: InvalidInput."""
    words, now = " ".join(text.lower().split()), clock.now()
    if match := _IN.fullmatch(words):
        moment = _later(match, clock)
    elif match := _DATE.fullmatch(words):
        try:
            day = datetime.fromisoformat(match["date"])
        except ValueError:
            raise _unknown(text) from None
        at = time_of(match)
        moment = moment_of(day.replace(hour=at.hour, minute=at.minute), clock.zone)
    elif match := _ON.fullmatch(words):
        moment = _on(match, text, clock)
    else:
        try:
            schedule = read_schedule(text)
        except InvalidInput:
            raise _unknown(text) from None
        return schedule.next(now, clock.zone), schedule
    if moment <= now:
        raise InvalidInput(f"when: {text[:60]!r} is over.", "Choose a time that is still to come.", key="reminder_past")
    return moment, None


def _later(match: re.Match[str], clock: Clock) -> datetime:
    count, unit = match["count"], match["unit"]
    number = _NUMBERS.get(count) or int(count)
    if unit in ("minute", "hour"):
        return clock.now() + timedelta(**{f"{unit}s": number})
    # Days are those of the wall: at the same time of the day also where clocks are changed meanwhile.
    wall = clock.now().astimezone(clock.zone).replace(tzinfo=None)
    return moment_of(wall + number * (_DAY if unit == "day" else 7 * _DAY), clock.zone)


def _on(match: re.Match[str], text: str, clock: Clock) -> datetime:
    today, day = clock.today(), match["day"]
    at = read_schedule(match["alone"]) if match["alone"] else time_of(match)
    if day is None:
        return at.next(clock.now(), clock.zone)
    if day in ("today", "tomorrow"):
        return time_of(match).on(today if day == "today" else today + _DAY, clock.zone)
    ahead = (WEEKDAYS.index(day) - today.isoweekday()) % 7
    moment = time_of(match).on(today + ahead * _DAY, clock.zone)
    return moment if moment > clock.now() else time_of(match).on(today + (ahead + 7) * _DAY, clock.zone)


def _unknown(text: str) -> InvalidInput:
    return InvalidInput(
        f"when: {text[:60]!r} is no time; write {_WHEN}, or for one that comes again {EXAMPLES}.", key="invalid_time"
    )
