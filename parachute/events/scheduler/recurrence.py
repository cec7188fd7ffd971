"""Moments that come again and again by the clock on the wall: on weekdays, in months, every few hours, or as cron has them."""

from datetime import UTC, datetime, timedelta, tzinfo
from functools import lru_cache

from cronsim import CronSim, CronSimError
from msgspec import Struct

_DAY = timedelta(days=1)
_MINUTE = timedelta(minutes=1)


class Recurrence(Struct, frozen=True):
    """A schedule by five fields of cron; `text` is how it was written.

    Of a time that comes twice, when clocks are put back, it is the first one; a time that is left out comes as many minutes
    later as clocks are put forward. Two that fall on one moment are one.
    """

    text: str
    cron: str

    @property
    def words(self) -> str:
        """The schedule for people."""
        return self.text if self.text != self.cron else _explained(self.cron)

    @property
    def is_often(self) -> bool:
        """True if it can come several times on a day."""
        found = CronSim(self.cron, datetime.min + _DAY)
        return len(found.minutes) * len(found.hours) > 1

    def last(self, now: datetime, zone: tzinfo | None = None) -> datetime:
        """The newest of its moments that is not to come, in UTC."""
        return self._nearest(now, zone, is_past=True)

    def next(self, now: datetime, zone: tzinfo | None = None) -> datetime:
        """The first of its moments after this one, in UTC."""
        return self._nearest(now, zone, is_past=False)

    def latest(self, now: datetime, zone: tzinfo | None = None) -> datetime:
        """The newest moment that a clock which is right can have seen."""
        return now + _DAY

    def read(self, text: str) -> datetime:
        """Read a moment from a state; error: ValueError."""
        moment = datetime.fromisoformat(text)
        if moment.tzinfo is None:
            raise ValueError("A moment has a zone.")
        return moment

    def _nearest(self, now: datetime, zone: tzinfo | None, *, is_past: bool) -> datetime:
        # Cron knows the wall alone. Where its clocks change, the order on it is not that of the moments: those within the
        # change are compared.
        now = now.astimezone(UTC)
        change = _change(now, zone)
        start = _wall(now, zone) + (change + _MINUTE if is_past else -change - _MINUTE)
        nearest: datetime | None = None
        for shown in CronSim(self.cron, start, reverse=is_past):
            moment = moment_of(shown, zone)
            if (moment <= now) == is_past:
                if nearest is None:
                    nearest, change = moment, max(change, _change(moment, zone))
                nearest = max(nearest, moment) if is_past else min(nearest, moment)
                beyond = shown - _wall(nearest, zone)
                if (-beyond if is_past else beyond) >= change:
                    break
        assert nearest is not None, self.cron
        return nearest

    def __str__(self) -> str:
        return self.text


@lru_cache(maxsize=256)
def comes(cron: str) -> bool:
    """True if these are five fields of cron that ever come again, and have come before."""
    start = datetime(2026, 1, 1)
    try:
        return len(cron.split()) == 5 and all(any(CronSim(cron, start, reverse=past)) for past in (False, True))
    except CronSimError:
        return False


def moment_of(shown: datetime, zone: tzinfo | None) -> datetime:
    """The moment in UTC at which a clock on the wall shows this, in the zone of this machine without one."""
    # By way of the timestamp: `astimezone` of a time that this machine leaves out gives one before the gap.
    return datetime.fromtimestamp(shown.replace(tzinfo=zone).timestamp(), UTC)


def _wall(moment: datetime, zone: tzinfo | None) -> datetime:
    return moment.astimezone(zone).replace(tzinfo=None, fold=0)


def _change(moment: datetime, zone: tzinfo | None) -> timedelta:
    """The time by which clocks are put forward or back on the days around a moment."""
    return abs(_wall(moment + _DAY, zone) - _wall(moment - _DAY, zone) - 2 * _DAY)


def _explained(cron: str) -> str:
    found = CronSim(cron, datetime.min + _DAY).explain()
    return found[:1].lower() + found[1:]
