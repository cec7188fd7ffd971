"""History of changes by runs, and changes that wait, for any caller."""

import asyncio
from collections.abc import Collection, Sequence
from pathlib import Path

from parachute.base.errors import NotFound
from parachute.changes.blobs import Blobs
from parachute.changes.models import Entry, Held
from parachute.changes.reading import Difference, Shown, TurnChanges, difference_of, turn_changes
from parachute.changes.store import ChangeStore

DIFFERENCE = 200_000
"""Characters of a difference."""


FEW_FILES = 20
"""Files of a set that are shown of many sets at once."""

_SETS = 1000


class History:
    """Reads sets of changes, and changes nothing."""

    def __init__(self, store: ChangeStore, blobs: Blobs) -> None:
        self._store = store
        self._blobs = blobs

    async def of_session(self, session: str) -> Sequence[Shown]:
        """The changes of a session, the newest first, each with what was written and what waits."""
        waiting = await self.held(session)
        found = []
        for each in await self._store.of_session(session):
            entries = await self._store.entries(each.number)
            found.append(Shown(each, tuple(entries), tuple(one for one in waiting if one.number == each.number)))
        return [each for each in found if each.entries or each.held]

    async def of_runs(self, session: str, numbers: Collection[int]) -> dict[int, list[TurnChanges]]:
        """The changes of these runs in short, each with the answers that applied more of it and the undos that hold; the oldest first."""
        waiting = await self.held(session)
        runs: dict[int, int] = {}
        found: dict[int, list[TurnChanges]] = {}
        for each in reversed(await self._store.of_session(session, _SETS)):
            run = runs[each.number] = each.number if each.undone is None else runs.get(each.undone, each.undone)
            if run not in numbers or each.kind == "redo":
                continue
            entries = tuple(await self._store.entries(each.number, most=FEW_FILES))
            shown = Shown(each, entries, tuple(one for one in waiting if one.number == each.number))
            counts = await self._store.counts(each.number)
            if shown.held or counts.total > (counts.undone if each.kind == "undo" else 0):
                found.setdefault(run, []).append(turn_changes(shown, counts, FEW_FILES))
        return found

    async def entries(self, number: int) -> Sequence[Entry]:
        """Return the changes of one run so far."""
        return await self._store.entries(number)

    async def waiting(self) -> Sequence[Shown]:
        """Every run of which something waits, without what was written."""
        by_number: dict[int, list[Held]] = {}
        for each in await self.held():
            by_number.setdefault(each.number, []).append(each)
        found = [(await self._store.get(number), held) for number, held in by_number.items()]
        return [Shown(each, (), tuple(held)) for each, held in found if each is not None]

    async def difference(self, session: str, number: int, path: str, limit: int = DIFFERENCE) -> Difference:
        """The difference of one path of a run, in at most so many characters; error: NotFound."""
        found = await self._store.get(number)
        if found is not None and found.session == session:
            lines: list[Entry | Held] = [*await self._store.entries(number), *await self._store.held(number=number)]
            # What waits comes last, and is what is asked about.
            if line := next((each for each in reversed(lines) if each.path == path), None):
                return await asyncio.to_thread(difference_of, self._blobs, Path(found.project), line, limit)
        raise NotFound(f"That run of this conversation has no change of {path[:200]!r}.", key="no_such_change")

    async def held(self, session: str | None = None) -> Sequence[Held]:
        """Return the changes that wait for the owner, of all sessions or of one."""
        return [each for each in await self._store.held(session) if not each.is_thrown]
