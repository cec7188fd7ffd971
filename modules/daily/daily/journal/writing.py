"""Writing entries so that each is written and published once, whatever ends in the middle."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from daily.days.day import Day
from daily.days.frontmatter import Unchangeable
from daily.days.headings import key_of
from daily.journal import names
from daily.journal.day_files import DayFiles, Edit
from daily.journal.index import Found
from daily.journal.publishing import Publisher
from daily.journal.state import PendingEvent, State
from parachute.core import Conflict, NotFound, ParachuteError

Result = TypeVar("Result")

_LOCKS = 64


@dataclass(frozen=True, slots=True)
class New:
    """An entry that somebody asks for; `digest` tells a repeated request from another one with the same key."""

    key: str | None
    digest: str
    entry_id: str
    date: str
    event: PendingEvent
    text: str
    title: str
    fields: dict[str, Any]


class Writing:
    """`get` finds an entry by its id, or raises NotFound."""

    def __init__(
        self, day_files: DayFiles, state: State, publisher: Publisher, get: Callable[[str], Awaitable[Found]]
    ) -> None:
        self._day_files = day_files
        self._state = state
        self._publisher = publisher
        self._get = get
        self._working: set[asyncio.Task[Any]] = set()
        self._asking = [asyncio.Lock() for _ in range(_LOCKS)]

    async def create(self, new: New) -> Found:
        """Write an entry; the same key and digest again give the same entry. Errors: Conflict, Unchangeable."""
        return await self._to_its_end(self._create(new))

    async def change(self, path: str, edit: Edit, event: PendingEvent) -> Day:
        """Change a file, keep the version before, and publish it; errors: Unchangeable, and what the edit raises."""
        return await self._to_its_end(self._change(path, edit, event))

    async def close(self) -> None:
        """Wait until everything is written."""
        await asyncio.gather(*self._working, return_exceptions=True)

    async def _create(self, new: New) -> Found:
        if new.key is None:
            return await self._create_once(new)
        async with self._asking[hash(new.key) % _LOCKS]:
            return await self._create_once(new)

    async def _create_once(self, new: New) -> Found:
        asked, number = await self._state.ask(new.key, new.digest, new.entry_id, new.date, new.event)
        if asked.entry != new.entry_id:
            try:
                return await self._get(asked.entry)
            except NotFound as error:
                if asked.written:
                    raise Conflict(
                        "idempotency_key: the entry of this key was deleted since.", key="entry_deleted"
                    ) from error
            # A crash came between the record and the file.
            event = replace(new.event, data={**new.event.data, "entry_id": asked.entry})
            number = await self._state.enqueue(event)
        found = await self._published_after(number, self._append(replace(new, entry_id=asked.entry, date=asked.date)))
        if new.key is not None:
            await self._state.written(new.key)
        return found

    async def _append(self, new: New) -> Found:
        written = new.entry_id.removeprefix("para:")
        key = key_of(written) or written

        def edit(day: Day) -> Day:
            return day.add(written, new.title, new.text, new.fields, new.date)

        problem: ParachuteError | None = None
        for path in names.files_of(new.date):
            try:
                day = await self._day_files.change(path, edit)
            except Unchangeable as error:
                problem = problem or error
                continue
            entry = day.entry(key)
            assert entry is not None
            return Found(0, new.date, path, entry)
        assert problem is not None
        raise problem

    async def _change(self, path: str, edit: Edit, event: PendingEvent) -> Day:
        number = await self._state.enqueue(event)
        return await self._published_after(number, self._day_files.change(path, edit, "changed"))

    async def _published_after(self, number: int, writing: Awaitable[Result]) -> Result:
        """Publish an event when what it is about is written, and forget it when that is not possible."""
        try:
            result = await writing
        except ParachuteError:
            await self._publisher.forget(number)
            raise
        self._publisher.release(number)
        return result

    async def _to_its_end(self, work: Coroutine[Any, Any, Result]) -> Result:
        """A client that goes away leaves nothing half done."""
        task = asyncio.ensure_future(work)
        self._working.add(task)
        task.add_done_callback(self._worked)
        return await asyncio.shield(task)

    def _worked(self, task: asyncio.Task[Any]) -> None:
        self._working.discard(task)
        if not task.cancelled():
            task.exception()  # whoever waits has it, and perhaps nobody does any more
