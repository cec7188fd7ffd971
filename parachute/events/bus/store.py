"""Events, subscriptions and deliveries in SQLite; a delivery that was taken is a row that is gone."""

import json
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta

from parachute.base.clock import SYSTEM, Clock, as_text
from parachute.base.database import Database
from parachute.events.bus.models import DeadLetter, Event, Limits, Waiting

_TEXT_LIMIT = 500
_EVENT = "e.id, e.name, e.source, e.data, e.timestamp"


def create_events(connection: sqlite3.Connection) -> None:
    """Events, who wants which, and what is still to be brought to whom."""
    connection.execute(
        "CREATE TABLE events (id TEXT PRIMARY KEY, name TEXT NOT NULL, source TEXT NOT NULL, data TEXT NOT NULL, "
        "size INTEGER NOT NULL, timestamp TEXT NOT NULL) STRICT"
    )
    connection.execute(
        "CREATE TABLE subscriptions (subscriber TEXT PRIMARY KEY, kind TEXT NOT NULL, patterns TEXT NOT NULL) STRICT"
    )
    connection.execute(
        "CREATE TABLE deliveries (subscriber TEXT NOT NULL, event TEXT NOT NULL REFERENCES events (id), "
        "is_dead INTEGER NOT NULL, attempts INTEGER NOT NULL, due_at REAL NOT NULL, error TEXT, "
        "PRIMARY KEY (subscriber, event)) STRICT, WITHOUT ROWID"
    )
    connection.execute("CREATE INDEX deliveries_of_event ON deliveries (event)")


ALL = (create_events,)


class EventStore:
    """Events and deliveries; each method that writes is one transaction."""

    def __init__(self, database: Database, clock: Clock = SYSTEM) -> None:
        self._database = database
        self._clock = clock

    async def last_id(self) -> str | None:
        """The id of the newest event that is kept."""
        row = await self._database.row("SELECT max(id) FROM events")
        return row[0] if row else None

    async def subscriptions(self) -> dict[str, tuple[str, tuple[str, ...]]]:
        """All subscribers, as (kind, patterns) by name."""
        rows = await self._database.rows("SELECT subscriber, kind, patterns FROM subscriptions")
        return {subscriber: (kind, tuple(json.loads(patterns))) for subscriber, kind, patterns in rows}

    async def set_subscription(self, subscriber: str, kind: str, patterns: Sequence[str]) -> None:
        """Store what a subscriber wants."""
        await self._database.write(
            "INSERT INTO subscriptions VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET kind = excluded.kind, "
            "patterns = excluded.patterns",
            (subscriber, kind, json.dumps(list(patterns))),
        )

    async def remove_subscription(self, subscriber: str) -> None:
        """Forget a subscriber, and all that waits for it."""
        async with self._database.transaction() as connection:
            for table in ("subscriptions", "deliveries"):
                await connection.execute(f"DELETE FROM {table} WHERE subscriber = ?", (subscriber,))  # noqa: S608

    async def backlogs(self) -> dict[str, tuple[int, int]]:
        """The number and bytes of the events that wait for each subscriber."""
        rows = await self._database.rows(
            "SELECT subscriber, count(*), sum(size) FROM deliveries d JOIN events e ON e.id = d.event "
            "WHERE NOT is_dead GROUP BY subscriber"
        )
        return {subscriber: (count, size) for subscriber, count, size in rows}

    async def add(
        self,
        make_id: Callable[[], str],
        name: str,
        source: str,
        data: str,
        receivers: Callable[[], Mapping[str, str | None]],
    ) -> Event:
        """Store an event for its receivers; each comes with None, or with the reason why it is a dead letter at once.

        Both functions are called when it is this event's turn to be written, so that ids are in the order of the rows.
        """
        async with self._database.transaction() as connection:
            event = Event(make_id(), name, source, json.loads(data), as_text(self._clock.now()))
            deliveries = receivers()
            if deliveries:
                row = (event.id, name, source, data, len(data.encode()), event.timestamp)
                await connection.execute("INSERT INTO events VALUES (?, ?, ?, ?, ?, ?)", row)
                await connection.executemany(
                    "INSERT INTO deliveries VALUES (?, ?, ?, 0, 0, ?)",
                    [(each, event.id, error is not None, error) for each, error in deliveries.items()],
                )
        return event

    async def next(self, subscriber: str) -> Waiting | None:
        """The oldest event that waits for a subscriber."""
        row = await self._database.row(
            f"SELECT {_EVENT}, attempts, due_at, size FROM deliveries d JOIN events e ON e.id = d.event "  # noqa: S608
            "WHERE subscriber = ? AND NOT is_dead ORDER BY event LIMIT 1",
            (subscriber,),
        )
        return Waiting(_event(row), row[5], row[6], row[7]) if row else None

    async def taken(self, subscriber: str, event: str) -> None:
        """A subscriber has taken an event."""
        await self._database.write("DELETE FROM deliveries WHERE subscriber = ? AND event = ?", (subscriber, event))

    async def failed(self, subscriber: str, event: str, attempts: int, error: str, delay: float | None) -> None:
        """A try has failed; `delay` is in seconds until the next one, None if there is none."""
        await self._database.write(
            "UPDATE deliveries SET is_dead = ?, attempts = ?, due_at = ?, error = ? WHERE subscriber = ? AND event = ?",
            (
                delay is None,
                attempts,
                self._clock.now().timestamp() + (delay or 0),
                error[:_TEXT_LIMIT],
                subscriber,
                event,
            ),
        )

    async def dead_letters(self, limit: int) -> list[DeadLetter]:
        """The newest events that were not taken, newest first."""
        rows = await self._database.rows(
            f"SELECT {_EVENT}, subscriber, attempts, error FROM deliveries d JOIN events e ON e.id = d.event "  # noqa: S608
            "WHERE is_dead ORDER BY event DESC, subscriber LIMIT ?",
            (limit,),
        )
        return [DeadLetter(_event(row), row[5], row[6], row[7] or "") for row in rows]

    async def revive(self, event: str) -> list[tuple[str, int]]:
        """Make the dead letters of an event wait again; their subscribers, with the bytes of the event."""
        async with self._database.transaction() as connection:
            rows = await connection.execute_fetchall(
                "SELECT subscriber, size FROM deliveries d JOIN events e ON e.id = d.event WHERE event = ? AND is_dead",
                (event,),
            )
            await connection.execute(
                "UPDATE deliveries SET is_dead = 0, attempts = 0, due_at = 0, error = NULL WHERE event = ? AND is_dead",
                (event,),
            )
        return [(subscriber, size) for subscriber, size in rows]

    async def prune(self, limits: Limits) -> None:
        """Drop the oldest dead letters past their limits, and then what nobody waits for and is old."""
        oldest = as_text(self._clock.now() - timedelta(days=limits.delivered_days))
        async with self._database.transaction() as connection:
            await connection.execute(
                "DELETE FROM deliveries WHERE (subscriber, event) IN (SELECT subscriber, event FROM ("
                "SELECT subscriber, event, row_number() OVER (PARTITION BY subscriber ORDER BY event DESC) AS number, "
                "sum(size) OVER (ORDER BY event DESC, subscriber) AS bytes "
                "FROM deliveries d JOIN events e ON e.id = d.event WHERE is_dead) WHERE number > ? OR bytes > ?)",
                (limits.dead_letters, limits.dead_bytes),
            )
            await connection.execute(
                "DELETE FROM events WHERE id IN (SELECT id FROM ("
                "SELECT id, timestamp, row_number() OVER (ORDER BY id DESC) AS number, sum(size) OVER (ORDER BY id DESC) "
                "AS bytes FROM events e WHERE NOT EXISTS (SELECT 1 FROM deliveries WHERE event = e.id)) "
                "WHERE number > ? OR bytes > ? OR timestamp < ?)",
                (limits.delivered, limits.delivered_bytes, oldest),
            )


def _event(row: sqlite3.Row) -> Event:
    identifier, name, source, data, timestamp = row[:5]
    return Event(identifier, name, source, json.loads(data), timestamp)
