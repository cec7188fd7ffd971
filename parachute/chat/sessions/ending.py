"""The end of sessions: nobody said anything in one for long enough."""

import asyncio
import contextlib
import logging
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

from parachute.base.clock import as_text
from parachute.base.errors import ParachuteError
from parachute.chat.sessions.store import IDLE_PAGE, SessionStore
from parachute.events.bus.service import SESSION_END, Events

log = logging.getLogger(__name__)

_SWEEP_SECONDS = 30.0
"""Between two sweeps; shorter only where a session counts as ended after less than two minutes."""


class SessionEnding:
    """Publishes `session.end` once for every stretch of a session, also for those that ended while the server was down."""

    def __init__(
        self, store: SessionStore, events: Events, idle_minutes: float, is_active: Callable[[str], bool]
    ) -> None:
        self._store = store
        self._events = events
        self._idle = timedelta(minutes=idle_minutes)
        self._is_active = is_active
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begin to sweep."""
        self._task = asyncio.create_task(self._sweep_for_ever(), name="session ending")

    async def close(self) -> None:
        """Stop; what ends meanwhile is published at the next start."""
        if self._task:
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._task

    async def sweep(self) -> None:
        """Publish the end of every session that has become idle since the last sweep."""
        until = as_text(datetime.now(UTC) - self._idle)
        idle = await self._store.idle_since_mark(until)
        for session in idle:
            if self._is_active(session.id):
                continue  # a long answer: its end makes the session young again
            await self._events.publish(
                SESSION_END,
                {
                    "session_id": session.id,
                    "message_count": session.message_count,
                    "started_at": session.created_at,
                    "ended_at": session.updated_at,
                },
            )
        # A full page may have more behind it: the next sweep goes on there.
        await self._store.set_mark(idle[-1].updated_at if len(idle) >= IDLE_PAGE else until)

    async def _sweep_for_ever(self) -> None:
        said: str | None = None
        while True:
            try:
                await self.sweep()
                said = None
            except ParachuteError as error:
                # A disk stays full for longer than a sweep: once is enough.
                if said != error.message:
                    said = error.message
                    log.error("Sessions that ended cannot be noticed: %s They are as soon as this is over.", said)
            except Exception:
                log.exception("Sessions that ended cannot be found.")
            await asyncio.sleep(min(_SWEEP_SECONDS, max(self._idle.total_seconds() / 4, 0.5)))
