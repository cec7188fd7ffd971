"""Taking over what another device says, without losing what is here."""

import datetime
import hashlib
from collections import Counter
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from daily.days.day import LARGEST, Day
from daily.days.frontmatter import Unchangeable
from daily.days.merge import merge
from daily.journal.names import CONFLICT, date_of
from daily.journal.service import Journal
from daily.sync.changes import events_of
from daily.sync.paths import is_binary
from daily.sync.versions import SEEN, Versions
from parachute.core import Conflict, InvalidInput, NotFound, ParachuteError
from parachute.core.services import Core

_TRIES = 20
_BASES = 12
_INSISTED = 2


@dataclass(slots=True)
class Outcome:
    """The outcome of a push: files that were merged, and the copies that were made where both sides had changed."""

    merged: list[str] = field(default_factory=list)
    conflicts: list[str] = field(default_factory=list)


class Pushing:
    """One file after the other."""

    def __init__(self, core: Core, journal: Journal, versions: Versions) -> None:
        self._files = core.files
        self._journal = journal
        self._versions = versions

    async def push(self, path: str, data: bytes, who: str, outcome: Outcome) -> None:
        """Take over a file of a device, by its path within the vault; errors: ParachuteError, after which nothing is changed."""
        if not (date_of(path) and await self._merge(path, data, who, outcome)):
            await self._replace(path, data, outcome)
        if not is_binary(path) and len(data) <= LARGEST:
            await self._versions.keep(path, data, SEEN, who)

    async def _merge(self, path: str, data: bytes, who: str, outcome: Outcome) -> bool:
        """Merge a day, entry by entry; whether that was possible."""
        try:
            theirs = Day.parse(data)
            theirs.check()
            current = await self._journal.day_files.read(path)
        except (InvalidInput, Unchangeable):
            return False
        if current is not None and current[0] == data:
            return True
        bases = [day for seen in await self._versions.seen(path, who, _BASES) if (day := _readable(seen)) is not None]
        # Something that was removed, came back in a merge and was removed again is not wanted.
        digest = hashlib.sha256(data).hexdigest()
        insisted = await self._versions.times_seen(path, who, digest) >= _INSISTED
        base = (bases[0] if bases else None) if insisted else _base(theirs, bases)
        date = date_of(path) or ""
        before = Day()

        def edit(ours: Day) -> Day:
            nonlocal before
            before = ours
            if not ours.blocks and ours.frontmatter is None:
                return theirs
            if base is not None and base.render() == ours.render():
                return theirs
            day = merge(ours, theirs, date, base).day
            # Then the device that pushes has nothing to fetch.
            return theirs if _same(day, theirs) else Day.parse(day.render())

        try:
            after = await self._journal.day_files.change(path, edit, "pushed")
        except Unchangeable:
            return False
        if after is not theirs:
            outcome.merged.append(path)
        for event in events_of(date, before, after):
            await self._journal.publisher.publish(event)
        return True

    async def _replace(self, path: str, data: bytes, outcome: Outcome) -> None:
        for _ in range(_TRIES):
            try:
                current: bytes | None = await self._files.read_bytes(path)
            except NotFound:
                current = None
            if current == data:
                return
            if current is not None:
                await self._versions.keep(path, current, "pushed")
                digest = hashlib.sha256(current).hexdigest()
                if not is_binary(path) and not await self._versions.has_seen(path, digest):
                    copy = _copy_of(path, digest)
                    if await self._files.replace(copy, current, None):
                        outcome.conflicts.append(copy)
            if await self._files.replace(path, data, current):
                await self._journal.reconciler.some([path])
                return
        raise Conflict(f"{path} is being changed by others all the time.", "Try it again.", key="file_busy")


def _copy_of(path: str, digest: str) -> str:
    """The path at which the version that a push replaces is kept: the same one always in the same place, however often it is pushed."""
    name = PurePosixPath(path)
    stamp = f"{datetime.date.today():%Y%m%d}"
    return str(name.with_name(f"{name.stem[:150]}{CONFLICT}{stamp}-{digest[:8]}{name.suffix}"))


def _readable(data: bytes) -> Day | None:
    try:
        day = Day.parse(data)
        day.check()
        return day
    except ParachuteError:
        return None


def _base(theirs: Day, bases: list[Day]) -> Day | None:
    """The version that the pushed one was made from: the one that it takes the least from.

    Devices do not say, and several may use one key: then the newest version that they had is not always the one that this
    one had, and to take it would remove what the other one has added.
    """
    new = _texts(theirs)

    def distance(base: Day) -> tuple[int, ...]:
        old = _texts(base)
        changed = [key for key in old.keys() & new.keys() if old[key] != new[key]]
        words = [(Counter(" ".join(old[key]).split()), Counter(" ".join(new[key]).split())) for key in changed]
        lost = sum((before - after).total() for before, after in words)
        added = sum((after - before).total() for before, after in words)
        return len(old.keys() - new.keys()), len(changed), len(new.keys() - old.keys()), lost, added

    return min(bases, key=distance, default=None)


def _texts(day: Day) -> dict[str, tuple[str, str]]:
    return {entry.key or f"\0{entry.title}\0{entry.content}": (entry.title, entry.content) for entry in day.entries}


def _same(one: Day, other: Day) -> bool:
    data = [day.frontmatter.data if day.frontmatter else {} for day in (one, other)]
    entries = [sorted((e.key, e.title, e.content) for e in day.entries) for day in (one, other)]
    return data[0] == data[1] and entries[0] == entries[1]
