"""Reminders whose time has come, in the inbox."""

from collections.abc import Sequence
from typing import ClassVar

from parachute.automation.reminders.models import Reminder
from parachute.automation.reminders.service import DONE, LATER, TOMORROW, Reminders
from parachute.events.inbox.models import Answer, Item, Source


class RemindersSource(Source):
    """The inbox of reminders; each waits there until it is answered."""

    kinds: ClassVar[frozenset[str]] = frozenset({"reminder"})

    def __init__(self, reminders: Reminders) -> None:
        self._reminders = reminders

    async def items(self) -> Sequence[Item]:
        """Return the reminders whose time has come."""
        return [_item(each) for each in await self._reminders.waiting()]

    async def answer(self, item: Item, answer: Answer) -> None:
        """Put a reminder off, or take it away; one that comes again and again does so."""
        await self._reminders.answer(item.key, answer.word)


def _item(reminder: Reminder) -> Item:
    since = reminder.since or reminder.at
    return Item(
        kind="reminder",
        key=reminder.id,
        title=reminder.text,
        source="reminder",
        since=since,
        details={"text": reminder.text, "due": since, "schedule": reminder.schedule},
        answers=(DONE, LATER, TOMORROW),
        rights=(("scheduler", "write"),),
        called=reminder.id,
    )
