"""Reading and changing the files of days, while others change them as well."""

import asyncio
from collections import OrderedDict
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any
from weakref import WeakValueDictionary

from daily.days.day import LARGEST, Day
from daily.days.frontmatter import Unchangeable
from parachute.core import InvalidInput, NotAllowed, NotFound, ParachuteError

Edit = Callable[[Day], Day]
Written = Callable[[str, Day, bytes], Awaitable[None]]
Keep = Callable[[str, bytes, str], Awaitable[None]]
_TRIES = 50
_KNOWN = 4
_LARGEST_KNOWN = 512 * 1024


@dataclass(frozen=True, slots=True)
class _Waiting:
    """`why` says that the version which the edit replaces is kept."""

    edit: Edit
    why: str | None
    future: asyncio.Future[Day]


class DayFiles:
    """Edits of one file that come at the same time are written together, each seeing those before it.

    What is on disk is read before each write and compared at its last moment: an edit of somebody else's is never lost.
    `written` gets what a file says after each write, `keep` the version that is replaced.
    """

    def __init__(self, files: Any, written: Written, keep: Keep) -> None:
        self._files = files
        self._written = written
        self._keep = keep
        self._waiting: dict[str, list[_Waiting]] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        # What was read last, by path: to compare bytes is quick, to parse them again is not.
        self._known: OrderedDict[str, tuple[bytes, Day]] = OrderedDict()

    async def read(self, path: str) -> tuple[bytes, Day] | None:
        """A file and what it says, None if there is none; error: Unchangeable when it cannot be read."""
        try:
            data: bytes = await self._files.read_bytes(path)
            known = self._known.get(path)
            if known is not None and known[0] == data:
                return known
            day = await asyncio.to_thread(Day.parse, data)
        except NotFound:
            return None
        except (InvalidInput, NotAllowed) as error:
            raise Unchangeable(f"{path} cannot be read: {error.message}", error.hint, key="day_unreadable") from error
        self._remember(path, data, day)
        return data, day

    async def change(self, path: str, edit: Edit, why: str | None = None) -> Day:
        """Apply an edit and return the day after it was written; errors: Unchangeable, and what the edit raises.

        With `why` the version that it replaces is kept.
        """
        waiting = _Waiting(edit, why, asyncio.get_running_loop().create_future())
        if path in self._waiting:
            self._waiting[path].append(waiting)
        else:
            self._waiting[path] = [waiting]
            task = asyncio.ensure_future(self._drain(path))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        return await waiting.future

    async def remove(self, path: str, day: Day) -> None:
        """Remove a file that is still this day."""
        async with self.alone(path):
            found = await self.read(path)
            if found is not None and found[0] == day.render():
                await self._files.delete(path)

    @asynccontextmanager
    async def alone(self, path: str) -> AsyncIterator[None]:
        """Edits of a file wait until this ends."""
        lock = self._locks.setdefault(path, asyncio.Lock())
        async with lock:
            yield

    async def close(self) -> None:
        """Wait until everything is written."""
        while self._tasks:
            await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _drain(self, path: str) -> None:
        try:
            while self._waiting[path]:
                async with self.alone(path):
                    batch, self._waiting[path] = self._waiting[path], []
                    try:
                        await self._write(path, batch)
                    except Exception as error:
                        for waiting in batch:
                            if not waiting.future.done():
                                waiting.future.set_exception(error)
        finally:
            for waiting in self._waiting.pop(path):
                waiting.future.cancel()

    async def _write(self, path: str, batch: list[_Waiting]) -> None:
        edits = [waiting.edit for waiting in batch]
        why = next((waiting.why for waiting in batch if waiting.why), None)
        for _ in range(_TRIES):
            found = await self.read(path)
            data, day = found or (None, Day())
            after, problems, new = await asyncio.to_thread(_applied, day, edits)
            if new == (data or b""):
                break
            if data is not None and why is not None:
                await self._keep(path, data, why)
            if await self._replaced(path, new, data):
                self._remember(path, new, after)
                await self._written(path, after, new)
                break
        else:
            raise Unchangeable(f"{path} is being changed by others all the time.", "Try it again.", key="day_busy")
        for waiting, problem in zip(batch, problems, strict=True):
            if waiting.future.cancelled():
                continue
            if problem is None:
                waiting.future.set_result(after)
            else:
                waiting.future.set_exception(problem)

    async def _replaced(self, path: str, new: bytes, data: bytes | None) -> bool:
        try:
            return bool(await self._files.replace(path, new, data))
        except (InvalidInput, NotAllowed) as error:
            raise Unchangeable(
                f"{path} cannot be written: {error.message}", error.hint, key="day_not_written"
            ) from error

    def _remember(self, path: str, data: bytes, day: Day) -> None:
        self._known.pop(path, None)
        if len(data) <= _LARGEST_KNOWN:
            self._known[path] = data, day
            if len(self._known) > _KNOWN:
                self._known.popitem(last=False)


def _applied(day: Day, edits: list[Edit]) -> tuple[Day, list[ParachuteError | None], bytes]:
    """The day after all edits that are possible, the error of each, and its bytes."""
    for careful in (False, True):
        after, problems = day, list[ParachuteError | None]()
        for edit in edits:
            try:
                edited = edit(after)
                if careful and len(edited.render()) > LARGEST:
                    raise Unchangeable(
                        f"The file of this day would be larger than {LARGEST:,} bytes.", key="day_too_large"
                    )
                after = edited
                problems.append(None)
            except ParachuteError as error:
                problems.append(error)
        data = after.render()
        if len(data) <= LARGEST:
            break
    return after, problems, data
