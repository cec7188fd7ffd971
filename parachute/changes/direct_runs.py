"""Runs with the owner's own rights: their folder is looked at before and after, and after a crash, too."""

import asyncio
import logging
from collections import defaultdict
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import NamedTuple

from parachute.base.errors import NotFound, ParachuteError
from parachute.changes.applying import Places, note_origin
from parachute.changes.clock import FileClock
from parachute.changes.links import LOST
from parachute.changes.models import Applied, Entry
from parachute.changes.planning import Change
from parachute.changes.present import Present
from parachute.changes.snapshots import Snapshots
from parachute.changes.taking import Snapshot
from parachute.security.origin import Origin

log = logging.getLogger(__name__)


class Begun(NamedTuple):
    """A run that begins: the number of its changes, and what of its folder could not be taken back, empty if it was said before."""

    number: int
    warning: str


class DirectRuns:
    """Runs that write to the owner's folders themselves. `limit` is how many bytes are kept of runs."""

    def __init__(
        self,
        places: Places,
        folder: Path,
        clock: FileClock,
        locks: defaultdict[Path, asyncio.Lock],
        limit: int,
        prune: Callable[[], Awaitable[None]],
    ) -> None:
        self._places, self._clock, self._locks = places, clock, locks
        self._limit, self._prune = limit, prune
        self.snapshots = Snapshots(places.blobs, folder)
        self._running: dict[str, tuple[int, Path, Snapshot]] = {}
        self._said: dict[str, str] = {}

    async def start(self) -> None:
        """Record the runs that the death of the server cut off, by what is there now."""
        for number, before in await asyncio.to_thread(self.snapshots.prepare):
            found = await self._places.store.get(number)
            try:
                if found is not None and found.ended_at is None and before is not None:
                    await self._record(number, Path(found.project), before, Origin.AGENT_FILE)
            except (OSError, ParachuteError) as error:
                log.warning("What a run changed when the server died is not known: %s", error)
            await self._places.store.end(number)
            await self._release(number)

    def is_running(self, session: str) -> bool:
        """Return whether a run of a session is under way."""
        return session in self._running

    async def forget(self, session: str) -> None:
        """Forget a session that is deleted."""
        self._said.pop(session, None)
        if (running := self._running.pop(session, None)) is not None:
            await self._release(running[0])

    async def begin(self, session: str, directory: Path) -> Begun:
        """Keep what is in the folder of a run that begins; errors: TooMany, OSError."""
        async with self._locks[directory]:
            async with self._places.keeping:
                taken = await asyncio.to_thread(self.snapshots.take, directory)
                began = await self._clock.later()
                number = await self._places.store.begin(session, directory, "run", began, note=taken.note)
                try:
                    await asyncio.to_thread(self.snapshots.hold, number, directory, taken)
                except OSError:
                    await self._places.store.end(number)
                    raise
            self._running[session] = number, directory, taken
        said, self._said[session] = self._said.get(session, ""), taken.warning
        return Begun(number, taken.warning if taken.warning != said else "")

    async def record(self, session: str, origin: Origin = Origin.OWNER) -> Applied:
        """Note what has changed in the folder since the run began; `origin` is the lowest of what has entered it.

        Errors: NotFound where none has begun, OSError.
        """
        if (running := self._running.pop(session, None)) is None:
            raise NotFound("There is no snapshot from before this run.", key="no_snapshot")
        number, directory, before = running
        async with self._locks[directory]:
            return await self._record(number, directory, before, origin)

    async def _record(self, number: int, directory: Path, before: Snapshot, origin: Origin) -> Applied:
        places = self._places
        async with places.keeping:
            taken = await asyncio.to_thread(self.snapshots.take, directory, may_be_gone=True)
            entries = await asyncio.to_thread(self.snapshots.compared, number, before, taken)
            await places.store.set_origin(number, origin)
            await places.store.start(entries)
        changes = [Change(each.path, Present(each.before), each.after) for each in entries]
        await note_origin(places, directory, changes, origin)
        await places.store.finish(number, [each.path for each in entries], ())
        await places.store.end(number)
        await self._release(number, directory, taken)
        await self._prune()
        return Applied(number, len(entries), 0, warning=self._warning(entries))

    async def _release(self, number: int, directory: Path | None = None, taken: Snapshot | None = None) -> None:
        async with self._places.keeping:  # another run may be linking what it has
            await asyncio.to_thread(self.snapshots.release, number, directory, taken)

    def _warning(self, entries: list[Entry]) -> str:
        lost = [each.path for each in entries if each.before.hash == LOST]
        kept = sum(
            each.before.size for each in entries if each.before.kind == "file" and each.before.hash != each.after.hash
        )
        found = []
        if lost:
            others = f" and {len(lost) - 1} others" if len(lost) > 1 else ""
            found.append(f"{lost[0]}{others} had no copy and was written over: an undo leaves it as it is.")
        if kept > self._limit:
            found.append(
                f"The run has changed {kept >> 20} MB, and {self._limit >> 20} MB are kept (`changes.keep_megabytes`): "
                "it can be undone until the next run has ended."
            )
        return " ".join(found)
