"""The end of sessions: somebody closed one, or nobody said anything in it for long enough."""

import asyncio
import contextlib
import logging
from collections.abc import Callable
from datetime import timedelta

from msgspec.structs import replace

from parachute.base.clock import SYSTEM, Clock, as_text
from parachute.base.errors import ParachuteError
from parachute.chat.sessions.endings import Endings
from parachute.events.bus.catalogue import SESSION_END
from parachute.events.bus.service import Events

log = logging.getLogger(__name__)

_SWEEP_SECONDS = 30.0
"""Between two sweeps; shorter only where a session counts as ended after less than two minutes."""


class SessionEnding:
    """Publishes `session.end` once for every stretch of a session, also for those that ended while the server was down."""

    def __init__(
        self,
        endings: Endings,
        events: Events,
        idle_minutes: float,
        is_active: Callable[[str], bool],
        clock: Clock = SYSTEM,
    ) -> None:
        self._endings = endings
        self._events = events
        self._clock = clock
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
        """Publish the end of every session that was closed or has become idle since the last sweep."""
        until = as_text(self._clock.now() - self._idle)
        may_be_more = True
        while may_be_more:
            may_be_more = await self._endings.find_idle(until, self._is_active)
            await self._publish()

    async def _publish(self) -> None:
        for ending in await self._endings.due():
            if self._is_active(ending.session):
                if ending.is_final:
                    continue  # it was put away during an answer, which belongs to it
                ending = replace(ending, data=None)
            if ending.data is not None:
                await self._events.publish(SESSION_END, ending.data)
            await self._endings.published(ending)

    async def _sweep_for_ever(self) -> None:
        said: str | None = None
        while True:
            self._endings.closed.clear()
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
            await self._clock.wait(self._endings.closed, min(_SWEEP_SECONDS, max(self._idle.total_seconds() / 4, 0.5)))
