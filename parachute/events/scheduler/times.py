"""Times of the day, and the moments that they are on a certain day."""

import re
from datetime import date, datetime, time, timedelta, tzinfo

from msgspec import Struct

from parachute.base.errors import InvalidInput
from parachute.events.scheduler.recurrence import moment_of

_TIME = re.compile(r"([01]?[0-9]|2[0-3]):([0-5][0-9])")
_DAY = timedelta(days=1)


class TimeOfDay(Struct, frozen=True):
    """An hour and a minute, as a clock on the wall shows them."""

    hour: int
    minute: int

    @classmethod
    def parse(cls, text: str, field: str = "time") -> "TimeOfDay":
        """Read `HH:MM`; error: InvalidInput."""
        match = _TIME.fullmatch(text)
        if not match:
            raise InvalidInput(
                f"{field}: {text[:40]!r} is no time of the day; write one such as 03:00 or 21:30.", key="invalid_time"
            )
        return cls(int(match[1]), int(match[2]))

    def on(self, day: date, zone: tzinfo | None = None) -> datetime:
        """The moment in UTC that it is on a day; without a zone in that of this machine.

        Of a time that comes twice, when clocks are put back, it is the first one; of a time that is left out, the one as
        many minutes later as clocks are put forward.
        """
        return moment_of(datetime.combine(day, time(self.hour, self.minute)), zone)

    @property
    def words(self) -> str:
        """The schedule for people."""
        return f"every day at {self}"

    @property
    def is_often(self) -> bool:
        """False: it comes once a day."""
        return False

    def last(self, now: datetime, zone: tzinfo | None = None) -> date:
        """The newest day on which it has been that time."""
        return last_due(self, now, zone)

    def next(self, now: datetime, zone: tzinfo | None = None) -> datetime:
        """The first moment after this one at which it is that time, in UTC."""
        return next_due(self, now, zone)

    def latest(self, now: datetime, zone: tzinfo | None = None) -> date:
        """The newest day that a clock which is right can have seen."""
        return self.last(now, zone) + _DAY

    def read(self, text: str) -> date:
        """Read a day from a state; error: ValueError."""
        return date.fromisoformat(text)

    def __str__(self) -> str:
        return f"{self.hour:02}:{self.minute:02}"


def last_due(at: TimeOfDay, now: datetime, zone: tzinfo | None = None) -> date:
    """The newest day on which it has been that time; a later moment never gives an earlier day."""
    # Where clocks are put back over midnight, tomorrow may have begun already.
    day = now.astimezone(zone).date() + _DAY
    while at.on(day, zone) > now:
        day -= _DAY
    return day


def next_due(at: TimeOfDay, now: datetime, zone: tzinfo | None = None) -> datetime:
    """The first moment after this one at which it is that time, in UTC."""
    return at.on(last_due(at, now, zone) + _DAY, zone)
