"""Reconciliation of the index with the files, whoever changed them."""

import asyncio
import contextlib
import logging
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from daily.days.day import Day, Entry, Written
from daily.journal.index import Index, Indexed
from daily.journal.labels import Label, labels_of_fields
from daily.journal.names import JOURNALS, date_of, day_meant
from parachute.core import ParachuteError
from parachute.core.conflict_copies import original_of

log = logging.getLogger("parachute.module")

_BATCH = 25
_SHOWN = 4
_PATIENCE_SECONDS = 10.0
_SOON_SECONDS = 1.0
_JUST_NOW_NS = 100_000_000
"""A file that changed so lately may change again without a new time of change."""


class Reconciler:
    """Reads files whose time of change or size are not those that the index knows."""

    def __init__(self, files: Any, index: Index) -> None:
        self._files = files
        self._index = index
        self._scanning = asyncio.Lock()
        self._lock = asyncio.Lock()
        # What the index has of the files that were written last, so that only differences are put there.
        self._shown: OrderedDict[str, tuple[tuple[Written, ...], tuple[Label, ...]]] = OrderedDict()
        self._first: asyncio.Task[None] | None = None
        self._again: asyncio.Task[None] | None = None
        self._last = 0.0
        self.conflicts: list[str] = []
        self.misnamed: dict[str, str] = {}
        """Files that are not read, with the day that each means."""
        self.edited: Callable[[list[str]], None] = lambda keys: None
        """Called with the keys of entries that somebody has changed in their files."""

    def start(self) -> None:
        """Read all files; `ready` waits for that."""
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

    async def soon_ready(self) -> None:
        """The same, but not much longer than a moment: years of files that nobody has read before take their time."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_SOON_SECONDS):
                await self.ready()

    def refresh_soon(self) -> None:
        """Read all files in the background, unless that was done just now."""
        if time.monotonic() - self._last > _PATIENCE_SECONDS and (self._again is None or self._again.done()):
            self._again = asyncio.ensure_future(self._quietly())

    async def everything(self) -> None:
        """Bring the index up to date with all files."""
        async with self._scanning:
            scanned = await self._files.scan(f"{JOURNALS}/**/*.md")
            known = await self._index.files()
            # Nobody has edited what an index that is made anew reads for the first time.
            is_new = self._last == 0.0 and await self._index.is_new()
            there = {path: (modified, size) for path, modified, size in scanned if date_of(path)}
            copies = {path: original for path, _, _ in scanned if (original := original_of(path))}
            paths = {path for path, _, _ in scanned}
            self.conflicts = [path for path, original in copies.items() if original in paths]
            self.misnamed = {path: date for path, _, _ in scanned if (date := day_meant(path))}
            # Nobody is told to delete the only one.
            alone = {path: date_of(original) for path, original in copies.items() if original not in paths}
            self.misnamed |= {path: date for path, date in alone.items() if date}
            gone = [path for path in known if path not in there]
            changed = [path for path, stamp in there.items() if _stamp(known.get(path)) != stamp]
            for start in range(0, max(len(changed), 1), _BATCH):
                async with self._lock:  # who asks for one day waits for one batch, and not for years
                    part = {path: there[path] for path in changed[start : start + _BATCH]}
                    edited = await self._take(part, gone)
                if edited and not is_new:
                    self.edited(edited)
                gone = []
            if is_new:
                await self._index.complete()
            self._last = time.monotonic()

    async def some(self, paths: Iterable[str]) -> bool:
        """Bring the index up to date with some files, if they are of the journal; whether there was anything new."""
        wanted = [path for path in dict.fromkeys(paths) if date_of(path)]
        if not wanted:
            return False
        async with self._lock:
            known = await self._index.files(wanted)
            stamps = {path: await self._files.stat(path) for path in wanted}
            gone = [path for path, stamp in stamps.items() if stamp is None and path in known]
            changed = {
                path: stamp for path, stamp in stamps.items() if stamp is not None and _stamp(known.get(path)) != stamp
            }
            if (gone or changed) and (edited := await self._take(changed, gone)):
                self.edited(edited)
            return bool(gone or changed)

    async def take(self, path: str, day: Day, data: bytes) -> None:
        """Take over what was just written to a file. Where that is not possible, whoever asks for the file does it."""
        date = date_of(path)
        if date is None:
            return
        stamp = await self._files.stat(path)
        modified = stamp[0] if stamp is not None and stamp[1] == len(data) else -1
        file = Indexed(path, date, modified, len(data), day.problem, day_labels(day))
        try:
            async with self._lock:
                before, labels = self._shown.pop(path, (None, None))
                if before is None or labels != file.labels:
                    await self._index.put([(file, await asyncio.to_thread(lambda: day.entries))])
                else:
                    await self._index.put_some(file, *await asyncio.to_thread(_difference, before, day.written))
                self._shown[path] = day.written, file.labels
                if len(self._shown) > _SHOWN:
                    self._shown.popitem(last=False)
        except ParachuteError as error:
            log.warning("%s is written and not in the index yet: %s", path, error)

    async def _quietly(self) -> None:
        try:
            await self.everything()
        except ParachuteError:
            pass  # the next one who asks tries again and gets the error

    async def _take(self, stamps: dict[str, tuple[int, int]], gone: list[str]) -> list[str]:
        for path in (*stamps, *gone):
            self._shown.pop(path, None)
        changes = [await self._read(path, *stamp) for path, stamp in stamps.items()]
        return await self._index.put(changes, gone)

    async def _read(self, path: str, modified: int, size: int) -> tuple[Indexed, tuple[Entry, ...]]:
        date = date_of(path) or ""
        if abs(time.time_ns() - modified) < _JUST_NOW_NS:
            modified = -1
        try:
            data = await self._files.read_bytes(path)
            day, entries = await asyncio.to_thread(_parsed, data)
        except ParachuteError as error:
            return Indexed(path, date, modified, size, error.message), ()
        return Indexed(path, date, modified, size, day.problem, day_labels(day)), entries


def _parsed(data: bytes) -> tuple[Day, tuple[Entry, ...]]:
    day = Day.parse(data)
    return day, day.entries


def day_labels(day: Day) -> tuple[Label, ...]:
    """The labels that a file gives to all of its entries."""
    return tuple(labels_of_fields(day.frontmatter.data)) if day.frontmatter else ()


def _stamp(file: Indexed | None) -> tuple[int, int] | None:
    return None if file is None else (file.modified, file.size)


def _difference(old: Sequence[Written], new: Sequence[Written]) -> tuple[dict[int, Entry], range]:
    """The entries that are not as they were, by place, and the places that are empty now."""
    same = [earlier.is_same(later) for earlier, later in zip(old, new, strict=False)]
    changed = [place for place in range(len(new)) if place >= len(same) or not same[place]]
    return {place: new[place].entry for place in changed}, range(len(new), len(old))
