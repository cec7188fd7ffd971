"""The events of runs that have ended, for those who read them: in memory until they are stored, then from the disk."""

import contextlib
from collections.abc import AsyncIterator

from msgspec.structs import replace

from parachute.base.errors import NotFound
from parachute.chat.runs.events import INTERRUPTED, Event
from parachute.chat.runs.log import EventLog, partial_text, replay
from parachute.chat.runs.run import Run
from parachute.chat.runs.store import RunStore
from parachute.chat.sessions.service import Sessions

_IN_MEMORY = 32


class EndedRuns:
    """The last run of each session."""

    def __init__(self, store: RunStore, sessions: Sessions) -> None:
        self._store = store
        self._sessions = sessions
        self._logs: dict[str, EventLog] = {}

    def add(self, run: Run) -> None:
        """Take the log of a run over, which may not be stored whole yet."""
        self._logs[run.session.id] = run.log
        while len(self._logs) > _IN_MEMORY:
            self._logs.pop(next(iter(self._logs)))

    async def record(self, run: Run) -> None:
        """Store how a run ended that was added."""
        with contextlib.suppress(Exception):  # the disk may be full; the log in memory is complete
            await self._store.end(run.log.run, run.status)
            if run.log.stored and self._logs.get(run.session.id) is run.log:
                del self._logs[run.session.id]  # from now on it is read from the disk: a long answer takes megabytes

    async def forget(self, session: str) -> None:
        """Forget the runs of a session that is deleted."""
        self._logs.pop(session, None)
        await self._store.forget(session)

    async def follow(self, session: str, after: int, *, as_deltas: bool = False) -> AsyncIterator[tuple[int, Event]]:
        """The events of the session's last run from behind `after`; error: NotFound."""
        if log_in_memory := self._logs.get(session):
            return log_in_memory.read(after, as_deltas=as_deltas)
        await self._sessions.get(session)
        last = await self._store.last(session)
        if last is None:
            raise NotFound("This conversation has no run to follow.", key="no_run")
        run, status = last
        stored = await self._store.events(run)
        if status == "interrupted" and not (stored and stored[-1][1].is_terminal):
            end = replace(INTERRUPTED, partial_text=partial_text(stored))
            stored.append(((stored[-1][0] if stored else 0) + 1, end))

        async def read() -> AsyncIterator[tuple[int, Event]]:
            # Stored pieces are longer than those that were sent: one may begin before `after`, so the whole text comes instead.
            for entry in replay(stored, after, as_deltas=as_deltas and after == 0):
                yield entry

        return read()

    async def events(self, session: str, run: int) -> list[tuple[int, Event]] | None:
        """Return the events of a session's last run, if it is this one and nothing interrupted it; None for all others."""
        last = await self._store.last(session)
        if last is None or last[0] != run or last[1] in ("running", "interrupted"):
            return None
        stored = replay(await self._store.events(run), 0)
        return stored if stored and stored[-1][1].is_terminal else None
