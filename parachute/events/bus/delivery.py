"""Deliver events to one subscriber, in order, until it has taken each."""

import asyncio
import contextlib
import logging
from collections.abc import Callable

from parachute.base.clock import Clock
from parachute.base.errors import ParachuteError
from parachute.events.bus.models import Deliver, Limits, Waiting
from parachute.events.bus.store import EventStore

log = logging.getLogger(__name__)

_STORE_SECONDS = 5.0
"""Until another try when the database itself does not work, such as on a full disk."""


class Delivery:
    """The task that delivers to a subscriber; an event is taken, or a dead letter, before the next one is tried."""

    def __init__(
        self,
        subscriber: str,
        deliver: Deliver,
        store: EventStore,
        limits: Limits,
        done: Callable[[Waiting], None],
        clock: Clock,
    ) -> None:
        self._subscriber = subscriber
        self._deliver = deliver
        self._store = store
        self._limits = limits
        self._done = done
        self._clock = clock
        self._wake = asyncio.Event()
        self._hurry = asyncio.Event()
        self._task = asyncio.create_task(self._run(), name=f"events for {subscriber}")

    def wake(self) -> None:
        """Deliver a new event."""
        self._wake.set()

    def hurry(self) -> None:
        """Retry at once."""
        self._wake.set()
        self._hurry.set()

    async def close(self) -> None:
        """Stop; what is under way is delivered again by whoever delivers next."""
        self._task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await self._task

    async def _run(self) -> None:
        waited = False
        while True:
            self._wake.clear()
            self._hurry.clear()
            try:
                waiting = await self._store.next(self._subscriber)
                if waiting is None:
                    waited = False
                    await self._clock.wait(self._wake, None)
                    continue
                # Never longer than the longest delay, also when the clock was set back.
                delay = min(waiting.due_at - self._clock.now().timestamp(), self._limits.most_seconds)
                if delay > 0 and not waited:
                    await self._clock.wait(self._hurry, delay)
                    waited = True  # look again: an older event may wait again by now
                    continue
                waited = False
                await self._try(waiting)
            except Exception:
                log.exception("Events for %s cannot be read or marked.", self._subscriber)
                await self._clock.sleep(_STORE_SECONDS)

    async def _try(self, waiting: Waiting) -> None:
        event = waiting.event
        try:
            async with self._clock.timeout(self._limits.delivery_seconds):
                await self._deliver(self._subscriber, event)
        except Exception as error:
            attempts = waiting.attempts + 1
            delay = self._limits.delay(attempts) if attempts < self._limits.tries else None
            reason = _sentence(error, self._limits.delivery_seconds)
            log.warning("%s did not take %s (try %d): %s", self._subscriber, event.name, attempts, reason)
            await self._store.failed(self._subscriber, event.id, attempts, reason, delay)
            if delay is not None:
                return
        else:
            await self._store.taken(self._subscriber, event.id)
        self._done(waiting)


def _sentence(error: Exception, seconds: float) -> str:
    if isinstance(error, TimeoutError):
        return f"It did not answer within {seconds:g} seconds."
    return str(error) if isinstance(error, ParachuteError) else f"{type(error).__name__}: {error}"
