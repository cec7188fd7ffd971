"""Keeping the index like the files, whoever changed them."""

import asyncio
import time
from collections.abc import Iterable
from typing import Any

from daily.days.day import Day, Entry
from daily.journal.index import Index, Indexed
from daily.journal.names import CONFLICT, JOURNALS, date_of
from parachute.core import ParachuteError

_BATCH = 100
_PATIENCE_SECONDS = 10.0
_JUST_NOW_NS = 100_000_000
"""A file that changed so lately may change again without a new time of change."""


class Reconciler:
    """Reads files whose time of change or size are not those that the index knows."""

    def __init__(self, files: Any, index: Index) -> None:
        self._files = files
        self._index = index
        self._lock = asyncio.Lock()
        self._first: asyncio.Task[None] | None = None
        self._again: asyncio.Task[None] | None = None
        self._last = 0.0
        self.conflicts: list[str] = []

    def start(self) -> None:
        """Look at all files; `ready` waits for that."""
        self._first = asyncio.ensure_future(self.everything())

    async def close(self) -> None:
        """End what is under way; what is not indexed then will be at the next start."""
        for task in (self._first, self._again):
            if task is not None:
                task.cancel()
                await asyncio.gather(task, return_exceptions=True)

    async def ready(self) -> None:
        """Return when the index knows all files; errors: those of reading the folder."""
        if self._first is not None:
            if self._first.done() and self._first.exception() is not None:
                self.start()
            await asyncio.shield(self._first)

    def look_again(self) -> None:
        """Look at all files in the background, unless that was done just now."""
        if time.monotonic() - self._last > _PATIENCE_SECONDS and (self._again is None or self._again.done()):
            self._again = asyncio.ensure_future(self._quietly())

    async def everything(self) -> None:
        """Bring the index up to date with all files."""
        async with self._lock:
            scanned = await self._files.scan(f"{JOURNALS}/*.md")
            known = await self._index.files()
            there = {path: (modified, size) for path, modified, size in scanned if date_of(path)}
            self.conflicts = [path for path, _, _ in scanned if CONFLICT in path]
            gone = [path for path in known if path not in there]
            changed = [
                path
                for path, stamp in there.items()
                if path not in known or (known[path].modified, known[path].size) != stamp
            ]
            for start in range(0, max(len(changed), 1), _BATCH):
                await self._take({path: there[path] for path in changed[start : start + _BATCH]}, gone)
                gone = []
            self._last = time.monotonic()

    async def some(self, paths: Iterable[str]) -> None:
        """Bring the index up to date with some files, if they are of the journal."""
        wanted = [path for path in dict.fromkeys(paths) if date_of(path)]
        if not wanted:
            return
        async with self._lock:
            known = await self._index.files()
            stamps = {path: await self._files.stat(path) for path in wanted}
            gone = [path for path, stamp in stamps.items() if stamp is None and path in known]
            changed = {
                path: stamp
                for path, stamp in stamps.items()
                if stamp is not None and (path not in known or (known[path].modified, known[path].size) != stamp)
            }
            if gone or changed:
                await self._take(changed, gone)

    async def take(self, path: str, day: Day, data: bytes) -> None:
        """Take over what was just written to a file."""
        date = date_of(path)
        if date is None:
            return
        stamp = await self._files.stat(path)
        modified = stamp[0] if stamp is not None and stamp[1] == len(data) else -1
        entries = await asyncio.to_thread(lambda: day.entries)
        await self._index.put([(Indexed(path, date, modified, len(data), day.problem), entries)])

    async def _quietly(self) -> None:
        try:
            await self.everything()
        except ParachuteError:
            pass  # the next one who asks tries again and is told

    async def _take(self, stamps: dict[str, tuple[int, int]], gone: list[str]) -> None:
        changes = [await self._read(path, *stamp) for path, stamp in stamps.items()]
        await self._index.put(changes, gone)

    async def _read(self, path: str, modified: int, size: int) -> tuple[Indexed, tuple[Entry, ...]]:
        date = date_of(path) or ""
        if time.time_ns() - modified < _JUST_NOW_NS:
            modified = -1
        try:
            data = await self._files.read_bytes(path)
            day, entries = await asyncio.to_thread(_parsed, data)
        except ParachuteError as error:
            return Indexed(path, date, modified, size, error.message), ()
        return Indexed(path, date, modified, size, day.problem), entries


def _parsed(data: bytes) -> tuple[Day, tuple[Entry, ...]]:
    day = Day.parse(data)
    return day, day.entries
