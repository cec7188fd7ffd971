"""Runs that have ended, as far as somebody may want to hear of them who looks elsewhere."""

from collections.abc import Callable, Sequence
from datetime import timedelta

from parachute.base.clock import Clock
from parachute.chat.runs.run import Run
from parachute.chat.runs.service import Runs
from parachute.chat.sessions.models import Session
from parachute.chat.sessions.service import Sessions
from parachute.connectors.push.content import RUN
from parachute.events.inbox.models import Item
from parachute.security.keys.models import Capability

_LONG_MS = 30_000
"""A shorter run that somebody followed to its end is no news."""

_MOST = 100
_LATELY = timedelta(hours=1)
_NEW_SECONDS = 24 * 3600


class RunNews:
    """The last run of each conversation, as items like those of the inbox."""

    def __init__(self, runs: Runs, sessions: Sessions, clock: Clock) -> None:
        self._runs = runs
        self._sessions = sessions
        self._clock = clock
        self._items: dict[str, tuple[float, Item]] = {}

    async def start(self, changed: Callable[[], None]) -> None:
        """Begin to hear; of what the end of the last server interrupted, too. `changed` is called when there is something new."""
        self._changed = changed
        self._runs.after_ends.append(self._hear)
        for run, session in await self._runs.interrupted(self._clock.now() - _LATELY):
            if (found := await self._sessions.find(session)) is not None:
                self._add(run, found, has_failed=True)

    def items(self) -> Sequence[Item]:
        """Return what there is to tell."""
        after = self._clock.elapsed() - _NEW_SECONDS
        self._items = {key: each for key, each in self._items.items() if each[0] > after}
        return [item for _, item in self._items.values()]

    def _hear(self, run: Run) -> None:
        has_failed, is_agents_own = run.status != "done", run.profile is not None
        was_seen = run.log.was_followed and run.duration_ms < _LONG_MS
        if not run.stopping and (has_failed if is_agents_own else not was_seen):
            self._add(run.log.run, run.session, has_failed=has_failed)

    def _add(self, run: int, session: Session, *, has_failed: bool) -> None:
        if session.from_outside:
            return  # its answer, or that there is none, was said in the messenger
        self._items.pop(session.id, None)
        rights: tuple[tuple[str, Capability], ...] = (("chat", "read"),)
        title = session.title or ""
        item = Item(RUN, str(run), title, "", details={"failed": has_failed}, rights=rights, session=session.id)
        self._items[session.id] = self._clock.elapsed(), item
        while len(self._items) > _MOST:
            self._items.pop(next(iter(self._items)))
        self._changed()
