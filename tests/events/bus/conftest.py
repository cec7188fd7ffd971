"""A bus on a real database, and subscribers that keep what they are given."""

from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from parachute.base.database import Database
from parachute.events.bus import store
from parachute.events.bus.models import Event, Limits
from parachute.events.bus.service import Events
from parachute.security.audit.service import Audit
from tests.support.changes import Changes
from tests.support.clock import ManualClock

SECONDS = 120
FOUR = Limits(tries=4)


class Inbox:
    """Deliveries, as (subscriber, name, data); `refuse` says which deliveries fail, and how."""

    def __init__(self) -> None:
        self.tried: list[tuple[str, Event]] = []
        self.taken: list[tuple[str, Event]] = []
        self.refuse: Callable[[str, Event], Exception | None] = lambda subscriber, event: None
        self._changes = Changes()

    async def deliver(self, subscriber: str, event: Event) -> None:
        """Take an event, or do not."""
        self.tried.append((subscriber, event))
        error = self.refuse(subscriber, event)
        if error is None:
            self.taken.append((subscriber, event))
        self._changes.tell()
        if error is not None:
            raise error

    async def has(self, number: int) -> None:
        """Wait until so many were taken."""
        await self._changes.happens(lambda: len(self.taken) >= number, f"{number} were taken")

    async def has_tried(self, number: int) -> None:
        """Wait until so many tries were made."""
        await self._changes.happens(lambda: len(self.tried) >= number, f"{number} were tried")

    def numbers(self, subscriber: str | None = None) -> list[int]:
        """The `n` of all taken events, in order."""
        return [event.data["n"] for each, event in self.taken if subscriber in (None, each)]


class Bus:
    """Events that can be closed and opened again."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "events.db"
        self.inbox = Inbox()
        self.clock = ManualClock()
        self.audit = Audit(folder / "audit")
        self.database: Database | None = None
        self.events: Events = Events(self.audit)

    async def open(self, limits: Limits = FOUR) -> Events:
        """Open, as core does when it starts."""
        self.database = Database(self.path, store.ALL)
        await self.database.open()
        self.events = Events(self.audit, store.EventStore(self.database, self.clock), limits, self.clock)
        self.events.register("module", self.inbox.deliver)
        await self.events.start()
        return self.events

    async def close(self) -> None:
        """Close, as core does when it ends."""
        if self.database is not None:
            await self.events.close()
            await self.database.close()
            self.database = None

    async def settled(self, subscriber: str) -> None:
        """Wait until nothing waits for a subscriber any more."""
        await self.clock.shows(lambda: self.events.backlog(subscriber) == 0, "nothing waits")

    async def pruned(self) -> None:
        """Wait until the old events have gone: then the task that removes them waits for its next time."""
        await self.clock.advance(0, "old events")

    async def count(self, table: str) -> int:
        """Rows of a table."""
        assert self.database is not None
        row = await self.database.row(f"SELECT count(*) FROM {table}")
        assert row is not None
        return int(row[0])


@pytest.fixture
async def bus(tmp_path: Path) -> AsyncIterator[Bus]:
    """See Bus; not open yet."""
    made = Bus(tmp_path)
    yield made
    await made.close()
