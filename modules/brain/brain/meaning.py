"""Search by meaning: entities are given to the computer's index as they change, and found there beside those with the words."""

import asyncio
import contextlib
import logging
import sqlite3
from collections.abc import Callable
from typing import TypeVar

from parachute.core import ParachuteError
from parachute.core.meaning import MOST, Meaning

from .database import LACKING, Database

Answer = TypeVar("Answer")

log = logging.getLogger("parachute.module")


class Nearness:
    """Where this computer knows no meanings, nothing is near to anything, and words are all there is."""

    def __init__(self, meaning: Meaning, database: Database) -> None:
        self._meaning = meaning
        self._database = database
        self._changed = asyncio.Event()
        self._idle = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Give what the index lacks, now and after each change."""
        loop = asyncio.get_running_loop()
        self._database.changed = lambda: loop.call_soon_threadsafe(self._note)
        self._note()
        self._task = asyncio.create_task(self._give())

    async def stop(self) -> None:
        """End giving; the rest follows at the next start."""
        self._database.changed = None
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def find(self, query: str) -> list[tuple[str, float]]:
        """Para-ids of entities that are near to a query, the nearest first, with how near from 0 to 1."""
        try:
            index, found = await self._meaning.find(query, MOST)
        except ParachuteError as error:
            log.info("Nothing is searched by meaning: %s", error)
            return []
        if not await self._read(lambda connection: LACKING.is_of(connection, index)):
            await self._write(lambda connection: LACKING.given(connection, [], index))
            self._note()
        return [(near.key, near.score) for near in found]

    async def given(self) -> None:
        """Wait until the index has all that it can be given now."""
        await self._idle.wait()

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
        numbers, texts, gone = await self._read(LACKING.next)
        if not numbers:
            return False
        index = await self._meaning.put(texts, gone)
        await self._write(lambda connection: LACKING.given(connection, numbers, index))
        return True

    async def _read(self, work: Callable[[sqlite3.Connection], Answer]) -> Answer:
        def read() -> Answer:
            with self._database.read() as connection:
                return work(connection)

        return await asyncio.to_thread(read)

    async def _write(self, work: Callable[[sqlite3.Connection], None]) -> None:
        def write() -> None:
            with self._database.write(quietly=True) as connection:
                work(connection)

        await asyncio.to_thread(write)
