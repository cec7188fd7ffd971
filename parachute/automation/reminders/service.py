"""Reminders: made, listed and removed; each waits from its time on until it is answered."""

import asyncio
import uuid
from collections.abc import Callable, Sequence
from datetime import date, datetime, timedelta
from pathlib import Path

from msgspec.structs import replace

from parachute.automation.reminders.models import Reminder, read_when
from parachute.automation.reminders.store import ReminderStore
from parachute.base.clock import Clock, as_text
from parachute.base.errors import Conflict, InvalidInput, NotFound
from parachute.events.scheduler.grammar import Timetable, read_schedule
from parachute.events.scheduler.times import TimeOfDay

_MOST = 500
_TEXT = 500
_HOUR, _DAY = timedelta(hours=1), timedelta(days=1)

DONE, TOMORROW, LATER = "done", "tomorrow", "in_an_hour"


class Reminders:
    """Keeps the owner's reminders; `changed` is called when one is made or removed."""

    def __init__(self, root: Path, clock: Clock, changed: Callable[[], None]) -> None:
        self._store = ReminderStore(root)
        self._clock = clock
        self._changed = changed

    async def list(self) -> Sequence[Reminder]:
        """All of them, the next one first; error: Unavailable."""
        found = await asyncio.to_thread(self._store.all)
        return sorted(found.values(), key=lambda each: (each.since or each.at, each.id))

    async def add(self, when: str, text: str) -> Reminder:
        """Remind of a text; errors: InvalidInput, Conflict, Unavailable."""
        moment, schedule = read_when(when, self._clock)
        words = " ".join(text.split())
        if not words or len(words) > _TEXT:
            raise InvalidInput(f"text: 1 to {_TEXT} characters are expected.", key="reminder_text")
        made = Reminder(uuid.uuid4().hex[:8], words, as_text(moment), _words(schedule))

        def add(found: dict[str, Reminder]) -> None:
            if len(found) >= _MOST:
                raise Conflict(f"There are {_MOST} reminders.", "Remove some of them.", key="too_many_reminders")
            found[made.id] = made

        await asyncio.to_thread(self._store.change, add)
        self._changed()
        return made

    async def remove(self, identifier: str) -> Reminder:
        """Forget a reminder; errors: NotFound, Unavailable."""
        removed: list[Reminder] = []
        await asyncio.to_thread(self._store.change, lambda found: removed.append(_taken(found, identifier)))
        self._changed()
        return removed[0]

    async def waiting(self) -> Sequence[Reminder]:
        """The reminders whose time has come; error: Unavailable.

        What has come is stored with the moment at which it was due, so that it comes once, whatever the clock does then.
        """
        found = await asyncio.to_thread(self._store.all)
        now = self._clock.now()
        if any(self._come(each, now) != each for each in found.values()):
            found = await asyncio.to_thread(self._store.change, lambda found: self._let_come(found, now))
        return [each for each in found.values() if each.since is not None]

    async def answer(self, identifier: str, word: str) -> None:
        """Carry out an answer to one that waits; errors: NotFound, Unavailable."""

        def answer(found: dict[str, Reminder]) -> None:
            reminder = _taken(found, identifier)
            if (again := self._again(reminder, word)) is not None:
                found[identifier] = replace(reminder, at=as_text(again), since=None)

        await asyncio.to_thread(self._store.change, answer)

    def _let_come(self, found: dict[str, Reminder], now: datetime) -> None:
        for identifier, each in found.items():
            found[identifier] = self._come(each, now)

    def _come(self, reminder: Reminder, now: datetime) -> Reminder:
        """The reminder as it is now: one that comes again while it still waits is due anew."""
        at = datetime.fromisoformat(reminder.at)
        due = datetime.fromisoformat(reminder.since) if reminder.since else at if at <= now else None
        if due is None:
            return reminder
        if reminder.schedule is not None:
            due = max(due, self._last(read_schedule(reminder.schedule), now))
        return replace(reminder, since=as_text(due))

    def _again(self, reminder: Reminder, word: str) -> datetime | None:
        """The moment at which an answered reminder comes again."""
        clock, now = self._clock, self._clock.now()
        due = datetime.fromisoformat(reminder.since or reminder.at)
        following = None
        if reminder.schedule is not None:
            # What has come does not come again after the clock was set back, unless it had been far ahead.
            after = max(now, due) if due <= now + _DAY else now
            following = read_schedule(reminder.schedule).next(after, clock.zone)
        if word == DONE:
            return following
        if word == LATER:
            later = now + _HOUR
        else:
            wall = due.astimezone(clock.zone)
            later = TimeOfDay(wall.hour, wall.minute).on(clock.today() + _DAY, clock.zone)
        return min(later, following) if following else later

    def _last(self, schedule: Timetable, now: datetime) -> datetime:
        last: date = schedule.last(now, self._clock.zone)
        if isinstance(last, datetime):
            return last
        assert isinstance(schedule, TimeOfDay)
        return schedule.on(last, self._clock.zone)


def _taken(found: dict[str, Reminder], identifier: str) -> Reminder:
    if (reminder := found.pop(identifier, None)) is None:
        raise NotFound(
            f"There is no reminder {identifier[:64]!r}.",
            "`parachute remind list` shows all of them.",
            key="no_reminder",
        )
    return reminder


def _words(schedule: Timetable | None) -> str | None:
    """A schedule as it is written, to be read again."""
    return schedule.words if isinstance(schedule, TimeOfDay) else str(schedule) if schedule else None
