"""Publish events: to listeners in the server at once, to subscribers at least once, also after a restart."""

import asyncio
import contextlib
import json
import logging
from collections.abc import Callable, Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from parachute.base.clock import SYSTEM, Clock, as_text
from parachute.base.errors import InvalidInput, NotFound, Unavailable
from parachute.events.bus.delivery import Delivery
from parachute.events.bus.models import (
    DeadLetter,
    Deliver,
    Event,
    Identifiers,
    Limits,
    Listener,
    Waiting,
    checked_name,
    checked_patterns,
    encoded,
    matches,
)
from parachute.events.bus.store import EventStore
from parachute.security.audit.records import para_ids
from parachute.security.audit.service import Audit

log = logging.getLogger(__name__)

_PRUNE_SECONDS = 3600.0
_PRUNE_BYTES = 16 * 1024 * 1024
_PRUNE_EVENTS = 500


class _Subscriber(Struct):
    """A subscriber; `patterns` may be a function, which is called for each event."""

    kind: str
    patterns: tuple[str, ...] | Callable[[], Sequence[str]]
    waiting: int = 0
    waiting_bytes: int = 0
    delivery: Delivery | None = None

    def wants(self, name: str) -> bool:
        """True if an event is for this subscriber."""
        return matches(self.patterns() if callable(self.patterns) else self.patterns, name)


class Events:
    """The bus. Without a store there are only listeners in the server; `start` comes before the first subscriber."""

    def __init__(
        self, audit: Audit, store: EventStore | None = None, limits: Limits | None = None, clock: Clock = SYSTEM
    ) -> None:
        self._audit = audit
        self._store = store
        self._clock = clock
        self._limits = limits or Limits()
        self._identifiers = Identifiers()
        self._listeners: list[Listener] = []
        self._kinds: dict[str, tuple[Deliver, Limits]] = {}
        self._subscribers: dict[str, _Subscriber] = {}
        self._publishing: set[asyncio.Task[Event]] = set()
        self._unpruned = self._unpruned_bytes = 0
        self._prune = asyncio.Event()
        self._pruning: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Load the subscriptions of an earlier process: their events are stored until the subscribers are back."""
        if self._store is None:
            return
        if last := await self._store.last_id():
            self._identifiers.follow(last)
        backlogs = await self._store.backlogs()
        for name, (kind, patterns) in (await self._store.subscriptions()).items():
            self._subscribers[name] = _Subscriber(kind, patterns, *backlogs.get(name, (0, 0)))
        self._pruning = asyncio.create_task(self._prune_for_ever(), name="old events")

    async def close(self) -> None:
        """Stop delivering; what was not taken is delivered after the next start."""
        await asyncio.gather(*self._publishing, return_exceptions=True)
        for subscriber in self._subscribers.values():
            await self._stop(subscriber)
        if self._pruning is not None:
            self._pruning.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._pruning

    def subscribe(self, listener: Listener) -> None:
        """Hear of every event from now on, inside core."""
        self._listeners.append(listener)

    def register(self, kind: str, deliver: Deliver, seconds: float | None = None) -> None:
        """Say how events are brought to subscribers of a kind, such as `module`, and how long one try may take."""
        limits = self._limits if seconds is None else replace(self._limits, delivery_seconds=seconds)
        self._kinds[kind] = (deliver, limits)

    async def add_subscriber(
        self, name: str, patterns: Sequence[str] | Callable[[], Sequence[str]], kind: str = "module"
    ) -> None:
        """Deliver to a subscriber from now on, and what was kept for it; one that is there gets the new patterns.

        A pattern is the name of an event or `prefix.*`. Patterns that are a function are asked at each event, which must
        cost nothing; after a restart the last known ones hold until the subscriber is back. Errors: InvalidInput.
        """
        store = self._durable()
        if kind not in self._kinds:
            raise InvalidInput(
                f"kind: {kind!r} is unknown; allowed are {', '.join(sorted(self._kinds)) or 'those registered'}.",
                key="unknown_kind",
            )
        deliver, limits = self._kinds[kind]
        asked = checked_patterns(list(patterns() if callable(patterns) else patterns))
        known = self._subscribers.get(name)
        if known is None or (known.kind, known.patterns) != (kind, asked):
            await store.set_subscription(name, kind, asked)
        subscriber = self._subscribers.setdefault(name, _Subscriber(kind, asked))
        await self._stop(subscriber)
        subscriber.kind, subscriber.patterns = kind, patterns if callable(patterns) else asked

        def done(waiting: Waiting) -> None:
            subscriber.waiting -= 1
            subscriber.waiting_bytes -= waiting.size

        subscriber.delivery = Delivery(name, deliver, store, limits, done, self._clock)

    async def pause_subscriber(self, name: str) -> None:
        """Deliver nothing until the subscriber is added again; what comes meanwhile is kept for it."""
        if subscriber := self._subscribers.get(name):
            await self._stop(subscriber)

    async def remove_subscriber(self, name: str) -> None:
        """Forget a subscriber with all that waits for it and its dead letters."""
        subscriber = self._subscribers.pop(name, None)
        if subscriber is not None:
            await self._stop(subscriber)
        await self._durable().remove_subscription(name)

    def subscribers(self, kind: str) -> tuple[str, ...]:
        """The names of all subscribers of a kind, also of those that are not back yet since the last start."""
        return tuple(name for name, subscriber in self._subscribers.items() if subscriber.kind == kind)

    def wake(self, name: str) -> None:
        """Try at once what a subscriber failed to take, since it is well again."""
        if (subscriber := self._subscribers.get(name)) and subscriber.delivery:
            subscriber.delivery.hurry()

    async def publish(self, name: str, data: dict[str, Any], source: str = "core") -> Event:
        """Keep the event for its subscribers, then tell all listeners, one after the other.

        Errors: InvalidInput for a wrong name or data; Unavailable if it cannot be kept. Then nobody hears of it.
        """
        text = encoded(data)
        checked_name(name)
        # Also when the caller is cancelled: what was written must be delivered.
        keeping = asyncio.create_task(self._keep(name, text, source), name=f"event {name}")
        self._publishing.add(keeping)
        keeping.add_done_callback(self._publishing.discard)
        event = await asyncio.shield(keeping)
        self._audit.append(
            event_type="event",
            source_type="core" if source == "core" else "module",
            source_id=str(data.get("session_id", source)) if source == "core" else source,
            target_module=name.partition(".")[0],
            target_endpoint=name,
            para_ids_involved=para_ids(data),
        )
        for listener in self._listeners:
            try:
                await listener(name, data)
            except Exception:
                log.exception("A listener of %s failed.", name)
        return event

    async def dead_letters(self, limit: int = 100) -> list[DeadLetter]:
        """The newest events that a subscriber did not take, newest first."""
        return await self._durable().dead_letters(limit)

    async def retry(self, identifier: str) -> int:
        """Deliver the dead letters of an event again, and return how many; error: NotFound if there are none."""
        revived = await self._durable().revive(identifier)
        if not revived:
            raise NotFound(f"There is no dead letter {identifier[:80]!r}.", key="no_such_dead_letter")
        for name, size in revived:
            if subscriber := self._subscribers.get(name):
                self._count(subscriber, size)
                self.wake(name)
        return len(revived)

    def backlog(self, name: str) -> int:
        """The number of events that wait for a subscriber."""
        subscriber = self._subscribers.get(name)
        return subscriber.waiting if subscriber else 0

    async def _keep(self, name: str, text: str, source: str) -> Event:
        size = len(text.encode())
        receivers: dict[str, str | None] = {}

        def receive() -> dict[str, str | None]:
            for each, subscriber in self._subscribers.items():
                if subscriber.wants(name):
                    receivers[each] = self._reason_full(subscriber, size)
            return receivers

        if self._store is None or not any(subscriber.wants(name) for subscriber in self._subscribers.values()):
            # Nobody will ask for it: an SD card wears by the number of writes.
            return Event(self._identifiers.new(), name, source, json.loads(text), as_text(self._clock.now()))
        event = await self._store.add(self._identifiers.new, name, source, text, receive)
        for each, full in receivers.items():
            subscriber = self._subscribers.get(each)
            if subscriber and full is None:
                self._count(subscriber, size)
                if subscriber.delivery:
                    subscriber.delivery.wake()
            elif full:
                log.warning("%s is a dead letter at once for %s: %s", name, each, full)
        self._unpruned += 1
        self._unpruned_bytes += size
        if self._unpruned >= _PRUNE_EVENTS or self._unpruned_bytes >= _PRUNE_BYTES:
            self._prune.set()
        return event

    def _reason_full(self, subscriber: _Subscriber, size: int) -> str | None:
        limits = self._limits
        if subscriber.waiting < limits.backlog and subscriber.waiting_bytes + size <= limits.backlog_bytes:
            return None
        return f"{subscriber.waiting} events were waiting already."

    @staticmethod
    def _count(subscriber: _Subscriber, size: int) -> None:
        subscriber.waiting += 1
        subscriber.waiting_bytes += size

    @staticmethod
    async def _stop(subscriber: _Subscriber) -> None:
        delivery, subscriber.delivery = subscriber.delivery, None
        if delivery is not None:
            await delivery.close()

    def _durable(self) -> EventStore:
        if self._store is None:
            raise Unavailable("Events are not kept here, so nothing can be delivered.", key="events_not_kept")
        return self._store

    async def _prune_for_ever(self) -> None:
        store = self._durable()
        while True:
            self._prune.clear()
            self._unpruned = self._unpruned_bytes = 0
            try:
                await store.prune(self._limits)
            except Exception:
                log.exception("Old events cannot be removed.")
            await self._clock.wait(self._prune, _PRUNE_SECONDS)
