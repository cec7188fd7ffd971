"""Reminders: made, listed and removed; each waits from its time on until it is answered."""

import asyncio
import uuid
from collections.abc import Callable, Sequence
from datetime import date, datetime, timedelta
from pathlib import Path
from unicodedata import category

from msgspec.structs import replace

from parachute.automation.reminders.models import Reminder, read_when
from parachute.automation.reminders.store import ReminderStore
from parachute.base.clock import Clock, as_text
from parachute.base.errors import Conflict, InvalidInput, NotFound
from parachute.events.scheduler.grammar import Timetable, read_schedule
from parachute.events.scheduler.times import TimeOfDay

_MOST = 500
_TEXT = 500
_INVISIBLE = ("Cc", "Cs")
"""Control characters, and halves of characters, which no file takes."""
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
        return sorted(await asyncio.to_thread(self._all), key=lambda each: (each.since or each.at, each.id))

    async def add(self, when: str, text: str) -> Reminder:
        """Remind of a text; errors: InvalidInput, Conflict, Unavailable."""
        moment, schedule = read_when(when, self._clock)
        words = "".join(each for each in " ".join(text.split()) if category(each) not in _INVISIBLE)
        if not words or len(words) > _TEXT:
            raise InvalidInput(f"text: 1 to {_TEXT} characters are expected.", key="reminder_text")
        made = Reminder(uuid.uuid4().hex[:8], words, as_text(moment))
        if schedule is not None:
            made = replace(made, schedule=_words(schedule), after=as_text(self._clock.now()))

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
        return [each for each in await asyncio.to_thread(self._let_come) if each.since is not None]

    async def answer(self, identifier: str, word: str) -> None:
        """Carry out an answer to one that waits; errors: NotFound, Unavailable."""

        def answer(found: dict[str, Reminder]) -> None:
            reminder = _taken(found, identifier)
            if (again := self._again(reminder, word)) is not None:
                found[identifier] = again

        await asyncio.to_thread(self._store.change, answer)

    def _all(self) -> Sequence[Reminder]:
        now = self._clock.now()
        return [self._come(each, now) for each in self._store.all().values()]

    def _let_come(self) -> Sequence[Reminder]:
        now = self._clock.now()

        def change(found: dict[str, Reminder]) -> None:
            for identifier, each in found.items():
                found[identifier] = self._come(each, now)

        found = self._store.all()
        if any(self._come(each, now) != each for each in found.values()):
            found = self._store.change(change)
        return list(found.values())

    def _come(self, reminder: Reminder, now: datetime) -> Reminder:
        """The reminder as it is now: one that comes again while it still waits is due anew."""
        schedule = read_schedule(reminder.schedule) if reminder.schedule is not None else None
        if reminder.since is None:
            if schedule is not None and reminder.after is not None:
                # By the wall where the computer is now, which may have travelled.
                reminder = self._scheduled(reminder, schedule, datetime.fromisoformat(reminder.after), now)
            due = datetime.fromisoformat(reminder.at)
            if due > now:
                return reminder
        else:
            due = datetime.fromisoformat(reminder.since)
        if schedule is not None:
            due = max(due, self._last(schedule, now))
        return replace(reminder, since=as_text(due))

    def _scheduled(self, reminder: Reminder, schedule: Timetable, after: datetime, now: datetime) -> Reminder:
        """The reminder at its next moment; one that a wrong clock put far ahead begins anew."""
        after = after if after <= now + _DAY else now
        return replace(reminder, at=as_text(schedule.next(after, self._clock.zone)), since=None, after=as_text(after))

    def _again(self, reminder: Reminder, word: str) -> Reminder | None:
        """The reminder as it comes again after an answer."""
        now = self._clock.now()
        due = datetime.fromisoformat(reminder.since or reminder.at)
        later = self._later(due, word)
        if reminder.schedule is not None:
            # What has come does not come again after the clock was set back, unless it had been far ahead.
            following = self._scheduled(reminder, read_schedule(reminder.schedule), max(now, due), now)
            if later is None or datetime.fromisoformat(following.at) <= later:
                return following
        return replace(reminder, at=as_text(later), since=None, after=None) if later is not None else None

    def _later(self, due: datetime, word: str) -> datetime | None:
        """The moment to which an answer puts a reminder off."""
        clock = self._clock
        if word == DONE:
            return None
        if word == LATER:
            return clock.now() + _HOUR
        wall = due.astimezone(clock.zone)
        return TimeOfDay(wall.hour, wall.minute).on(clock.today() + _DAY, clock.zone)

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


def _words(schedule: Timetable) -> str:
    """A schedule as it is written, to be read again."""
    return schedule.words if isinstance(schedule, TimeOfDay) else str(schedule)
