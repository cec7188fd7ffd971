"""Reading and changing the files of days, while others change them as well."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from daily.days.day import LARGEST, Day
from daily.days.frontmatter import Unchangeable
from parachute.core import InvalidInput, NotAllowed, NotFound, ParachuteError

Edit = Callable[[Day], Day]
Written = Callable[[str, Day, bytes], Awaitable[None]]
_TRIES = 50


class DayFiles:
    """Edits of one file that come at the same time are written together, each seeing those before it.

    What is on disk is read before each write and compared at its last moment: an edit of somebody else's is never lost.
    `written` is told what a file says after each write.
    """

    def __init__(self, files: Any, written: Written) -> None:
        self._files = files
        self._written = written
        self._waiting: dict[str, list[tuple[Edit, asyncio.Future[Day]]]] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    async def read(self, path: str) -> tuple[bytes, Day] | None:
        """A file and what it says, None if there is none; error: Unchangeable when it cannot be read."""
        try:
            data: bytes = await self._files.read_bytes(path)
            return data, await asyncio.to_thread(Day.parse, data)
        except NotFound:
            return None
        except (InvalidInput, NotAllowed) as error:
            raise Unchangeable(f"{path} cannot be read: {error.message}", error.hint) from error

    async def change(self, path: str, edit: Edit) -> Day:
        """Apply an edit and return the day after it was written; errors: Unchangeable, and what the edit raises."""
        future: asyncio.Future[Day] = asyncio.get_running_loop().create_future()
        if path in self._waiting:
            self._waiting[path].append((edit, future))
        else:
            self._waiting[path] = [(edit, future)]
            task = asyncio.ensure_future(self._drain(path))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        return await future

    async def close(self) -> None:
        """Wait until everything is written."""
        while self._tasks:
            await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _drain(self, path: str) -> None:
        while self._waiting[path]:
            batch, self._waiting[path] = self._waiting[path], []
            try:
                await self._write(path, batch)
            except BaseException as error:
                for _, future in batch:
                    if not future.done():
                        future.set_exception(error)
                if not isinstance(error, Exception):
                    raise
        del self._waiting[path]

    async def _write(self, path: str, batch: list[tuple[Edit, "asyncio.Future[Day]"]]) -> None:
        edits = [edit for edit, _ in batch]
        for _ in range(_TRIES):
            found = await self.read(path)
            data, day = found or (None, Day())
            after, problems, new = await asyncio.to_thread(_applied, day, edits)
            if new == (data or b"") or await self._replaced(path, new, data):
                break
        else:
            raise Unchangeable(f"{path} is being changed by others all the time.", "Try it again.")
        if new != (data or b""):
            await self._written(path, after, new)
        for (_, future), problem in zip(batch, problems, strict=True):
            if future.cancelled():
                continue
            if problem is None:
                future.set_result(after)
            else:
                future.set_exception(problem)

    async def _replaced(self, path: str, new: bytes, data: bytes | None) -> bool:
        try:
            return bool(await self._files.replace(path, new, data))
        except (InvalidInput, NotAllowed) as error:
            raise Unchangeable(f"{path} cannot be written: {error.message}", error.hint) from error


def _applied(day: Day, edits: list[Edit]) -> tuple[Day, list[ParachuteError | None], bytes]:
    """The day after all edits that are possible, the error of each, and its bytes."""
    for careful in (False, True):
        after, problems = day, list[ParachuteError | None]()
        for edit in edits:
            try:
                edited = edit(after)
                if careful and len(edited.render()) > LARGEST:
                    raise Unchangeable(f"The file of this day would be larger than {LARGEST:,} bytes.")
                after = edited
                problems.append(None)
            except ParachuteError as error:
                problems.append(error)
        if after.frontmatter is not None and after is not day:
            after.frontmatter.check()
        data = after.render()
        if len(data) <= LARGEST:
            break
    return after, problems, data
