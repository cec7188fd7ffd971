"""Search by meaning in a module's own database: what changes is given to the computer's index, and found there."""

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from parachute.base.errors import ParachuteError
from parachute.core.meaning import MOST, Meaning, Near, Queue

if TYPE_CHECKING:
    import sqlite3

Work = Callable[["sqlite3.Connection"], Any]

log = logging.getLogger("parachute.module")


class Nearness:
    """Search by meaning; nothing is near where this computer has no index of meanings.

    `read` and `write` do something with a connection to the database, in a thread; after other changes call `changed`.
    """

    def __init__(
        self,
        meaning: Meaning,
        queue: Queue,
        read: Callable[[Work], Awaitable[Any]],
        write: Callable[[Work], Awaitable[Any]],
    ) -> None:
        self._meaning = meaning
        self._queue = queue
        self._read = read
        self._write = write
        self._loop: asyncio.AbstractEventLoop | None = None
        self._changed = asyncio.Event()
        self._idle = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Give what the index lacks, now and after each change."""
        self._loop = asyncio.get_running_loop()
        self._note()
        self._task = asyncio.create_task(self._give())

    async def stop(self) -> None:
        """End giving; the rest follows at the next start."""
        self._loop = None
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    def changed(self) -> None:
        """Take notice of a change of the database; from any thread."""
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self._note)

    async def given(self) -> None:
        """Wait until the index has all that it can be given now."""
        await self._idle.wait()

    async def find(self, query: str, limit: int = MOST) -> list[Near]:
        """Texts that are near to a query, the nearest first."""
        try:
            index, found = await self._meaning.find(query, limit)
        except ParachuteError as error:
            log.info("Nothing is searched by meaning: %s", error)
            return []
        if not await self._read(lambda connection: self._queue.is_of(connection, index)):
            await self._write(lambda connection: self._queue.given(connection, [], index))
            self._note()
        return found

    async def searched(self, count: int) -> dict[str, int]:
        """Numbers of a search: `count` things, and in the index `waiting` of `total` texts that are not read yet."""
        try:
            return {"count": count, **await self._meaning.progress()}
        except ParachuteError:
            return {"count": count, "waiting": 0, "total": 0}

    def _note(self) -> None:
        self._idle.clear()
        self._changed.set()

    async def _give(self) -> None:
        while True:
            await self._changed.wait()
            self._changed.clear()
            # What cannot be given now is given after the next change, or at the next start.
            with contextlib.suppress(ParachuteError):
                while await self._give_some():
                    pass
            if not self._changed.is_set():
                self._idle.set()

    async def _give_some(self) -> bool:
        numbers, texts, gone = await self._read(self._queue.next)
        if not numbers:
            return False
        index = await self._meaning.put(texts, gone)
        await self._write(lambda connection: self._queue.given(connection, numbers, index))
        return True
