"""Tasks whose day has come, in the inbox."""

from collections.abc import Sequence
from datetime import date
from typing import ClassVar

from parachute.automation.tasks.models import Task
from parachute.automation.tasks.service import Tasks
from parachute.base.clock import Clock, as_text
from parachute.events.inbox.models import Answer, Item, Source
from parachute.events.scheduler.times import TimeOfDay
from parachute.security.keys.models import FULL_ACCESS, Caller

DONE, LATER = "done", "later"
_DAY_BEGINS = TimeOfDay(0, 0)


class TasksSource(Source):
    """The inbox of tasks; each waits there until it is ticked, or put off until tomorrow."""

    kinds: ClassVar[frozenset[str]] = frozenset({"task"})

    def __init__(self, tasks: Tasks, clock: Clock) -> None:
        self._tasks = tasks
        self._clock = clock

    async def items(self) -> Sequence[Item]:
        """Return the tasks whose day has come."""
        return [self._item(each) for each in await self._tasks.waiting()]

    async def answer(self, item: Item, answer: Answer) -> None:
        """Tick a task in its file, or put it off; errors: those of `Tasks.tick`."""
        if answer.word == LATER:
            await self._tasks.put_off(item.key)
        else:
            await self._tasks.tick(item.key, Caller("cli", answer.who, FULL_ACCESS), done=True)

    def _item(self, task: Task) -> Item:
        day = date.fromisoformat(task.due or "")
        return Item(
            kind="task",
            key=task.id,
            title=task.text,
            source="tasks",
            since=as_text(_DAY_BEGINS.on(day, self._clock.zone)),
            # Not the line: it is another one after each edit above, and nobody is told anew for that.
            details={"text": task.text, "due": task.due, "path": task.path},
            answers=(DONE, LATER),
            rights=(("vault", "write"),),
            called=task.id,
        )
