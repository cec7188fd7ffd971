"""Prewarming: an agent is started for the next new chat before anybody asks for it."""

import asyncio
import contextlib
import logging
import uuid

from parachute.base.clock import SYSTEM, Clock, now
from parachute.chat.agent_processes.pool import AgentPool
from parachute.chat.knowledge.service import KnowledgeService
from parachute.chat.runs.person_preparation import PersonPreparation
from parachute.chat.runs.preparation import AgentServices
from parachute.chat.sessions.models import AppListener, Session
from parachute.security.kill_switch.switch import KillSwitch

log = logging.getLogger(__name__)

_PAUSES = (5.0, 30.0, 300.0)
"""Seconds to the next attempt, after one, two and more failures in a row."""


class Prewarming(AppListener):
    """Keeps an agent and the modules with knowledge ready while an app is around and memory allows."""

    def __init__(
        self,
        services: AgentServices,
        preparation: PersonPreparation,
        pool: AgentPool,
        knowledge: KnowledgeService,
        clock: Clock = SYSTEM,
    ) -> None:
        self._services = services
        self._preparation = preparation
        self._pool = pool
        self._knowledge = knowledge
        self._clock = clock
        self._kill_switch = KillSwitch(services.home.root)
        self._task: asyncio.Task[None] | None = None
        self._closed = False
        self._failures = 0
        self._not_before = 0.0

    def app_seen(self) -> None:
        """Begin to prewarm, unless everything is ready or the settings or the memory forbid it."""
        self._knowledge.app_seen()
        if (
            self._services.settings.agents.spare
            and not self._closed
            and self._pool.prewarmed is None
            and (self._task is None or self._task.done())
            and self._pool.memory_allows()
            and not self._kill_switch.panic
            and self._clock.elapsed() >= self._not_before
        ):
            self._task = asyncio.create_task(self._prewarm(), name="prewarmed agent")

    async def close(self) -> None:
        """Start no other agent; the one that is ready belongs to the pool."""
        self._closed = True
        await self.stop()

    async def stop(self) -> None:
        """Give up the agent that is being started."""
        if self._task:
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._task

    async def _prewarm(self) -> None:
        moment = now()
        session = Session(id=str(uuid.uuid4()), created_at=moment, updated_at=moment)
        try:
            if await self._services.sandboxes.reason_unavailable():
                return
            # As the owner's: whoever else asks gets an agent of their own where that makes a difference.
            preparation = await self._preparation.prepare(session, None, None, resume=False, by_owner=True)
            await self._pool.prewarm(preparation.specification)
            self._failures = 0
        except Exception as error:  # without a prewarmed agent the next new chat begins a little later
            log.info("No agent was prewarmed: %s", error)
            # Every list of conversations asks for one: without a pause a sandbox that cannot start would be tried all the time.
            self._failures = min(self._failures + 1, len(_PAUSES))
            self._not_before = self._clock.elapsed() + _PAUSES[self._failures - 1]
            await self._pool.released(session.id)
