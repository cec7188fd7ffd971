"""The spare: an agent that is started before anybody has asked for it, for the next new chat."""

import asyncio
import contextlib
import logging
import time
import uuid

from parachute.clock import now
from parachute.panic.brake import Brake
from parachute.runs.preparation import Services, prepare
from parachute.sessions.models import Session

log = logging.getLogger(__name__)

_PAUSES = (5.0, 30.0, 300.0)
"""Seconds to the next attempt, after one, two and more failures in a row."""


class Spare:
    """Sees to it that there is a spare while an app is around and memory allows."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._brake = Brake(services.home.root)
        self._task: asyncio.Task[None] | None = None
        self._closed = False
        self._failures = 0
        self._not_before = 0.0

    def want(self) -> None:
        """Have a spare ready soon, unless there is one or the settings or the memory forbid it."""
        if (
            self._services.settings.agents.spare
            and not self._closed
            and self._services.pool.spare is None
            and (self._task is None or self._task.done())
            and self._services.pool.memory_allows()
            and not self._brake.panic
            and time.monotonic() >= self._not_before
        ):
            self._task = asyncio.create_task(self._prepare(), name="spare agent")

    async def close(self) -> None:
        """Begin no other one; the one that is ready belongs to the pool."""
        self._closed = True
        await self.stop()

    async def stop(self) -> None:
        """Give up the one that is being prepared."""
        if self._task:
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._task

    async def _prepare(self) -> None:
        services, moment = self._services, now()
        session = Session(id=str(uuid.uuid4()), created_at=moment, updated_at=moment)
        try:
            if await services.sandboxes.reason_unavailable():
                return
            preparation = await prepare(services, session, None, None, resume=False)
            await services.pool.set_spare(preparation.specification)
            self._failures = 0
        except Exception as error:  # a spare is a convenience: without one the next new chat begins a little later
            log.info("No spare agent: %s", error)
            # Whoever looks at the list asks for one: without a pause a sandbox that cannot start would be tried all the time.
            self._failures = min(self._failures + 1, len(_PAUSES))
            self._not_before = time.monotonic() + _PAUSES[self._failures - 1]
            if services.pool.released:
                await services.pool.released(session.id)
