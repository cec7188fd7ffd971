"""State that has to outlive a crash: which requests were done, and which events are still to be published."""

import hashlib
import json
import sqlite3
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from daily.journal.database import Database
from parachute.core import Conflict

_SCHEMA = """
CREATE TABLE IF NOT EXISTS requests (
    key TEXT PRIMARY KEY, digest TEXT NOT NULL, entry TEXT NOT NULL, date TEXT NOT NULL,
    written INTEGER NOT NULL DEFAULT 0, at REAL NOT NULL
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS requests_by_time ON requests (at);
CREATE TABLE IF NOT EXISTS events (number INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL, data TEXT NOT NULL);
"""
_DAYS_KEPT = 60
_LONGEST_KEY = 200


@dataclass(frozen=True, slots=True)
class Asked:
    """A request with an idempotency key: the entry that it makes, and whether that is written."""

    entry: str
    date: str
    written: bool


@dataclass(frozen=True, slots=True)
class PendingEvent:
    """An event that is to be published; `number` is its place in the queue."""

    number: int
    name: str
    data: dict[str, Any]


class State:
    """The database; every change is on disk when its call returns.

    An event is enqueued before what it is about is written, and is published only after its `release`: a process that ends
    between the two leaves it to the next one.
    """

    def __init__(self, path: Path) -> None:
        self._database = Database(path, _SCHEMA)
        self._unreleased: set[int] = set()

    def close(self) -> None:
        """Close the file."""
        self._database.close()

    async def ask(self, key: str | None, digest: str, entry: str, date: str, event: PendingEvent) -> tuple[Asked, int]:
        """Record what is about to be written, and the event that follows; error: Conflict for a key with other content.

        The answer is the entry that the key stands for, which may be an earlier one, and the event's number.
        """

        def work(connection: sqlite3.Connection) -> tuple[Asked, int]:
            if key is not None:
                connection.execute("DELETE FROM requests WHERE at < ?", (time.time() - _DAYS_KEPT * 86400,))
                row = connection.execute(
                    "SELECT entry, date, written, digest FROM requests WHERE key = ?", (key,)
                ).fetchone()
                if row is not None:
                    if row[3] != digest:
                        raise Conflict(
                            "idempotency_key: it was used with another text.",
                            "Use a new key for each entry.",
                            key="idempotency_key_used",
                        )
                    return Asked(row[0], row[1], bool(row[2])), 0
                connection.execute(
                    "INSERT INTO requests (key, digest, entry, date, at) VALUES (?, ?, ?, ?, ?)",
                    (key, digest, entry, date, time.time()),
                )
            return Asked(entry, date, False), self._note(connection, event)

        return await self._database.run_together(work)

    async def asked(self, key: str) -> Asked | None:
        """Return the use of an idempotency key, if there is one."""

        def work(connection: sqlite3.Connection) -> Asked | None:
            query = "SELECT entry, date, written FROM requests WHERE key = ?"
            row = connection.execute(query, (key,)).fetchone()
            return Asked(row[0], row[1], bool(row[2])) if row else None

        return await self._database.run(work)

    async def written(self, key: str) -> None:
        """Record that the entry of a key is in its file."""

        def work(connection: sqlite3.Connection) -> None:
            connection.execute("UPDATE requests SET written = 1 WHERE key = ?", (key,))

        await self._database.run_together(work)

    async def enqueue(self, event: PendingEvent) -> int:
        """Add an event to the queue, and return its number."""
        return await self._database.run_together(lambda connection: self._note(connection, event))

    def release(self, number: int) -> None:
        """Let an event be published: what it is about has happened."""
        self._unreleased.discard(number)

    async def dequeue(self, numbers: Iterable[int]) -> None:
        """Remove events."""
        values = [(number,) for number in numbers]

        def work(connection: sqlite3.Connection) -> None:
            connection.executemany("DELETE FROM events WHERE number = ?", values)

        await self._database.run_together(work)
        self._unreleased.difference_update(number for (number,) in values)

    async def waiting(self, limit: int) -> list[PendingEvent]:
        """The first events that are to be published, in order."""
        query = (
            "SELECT number, name, data FROM events WHERE number NOT IN (SELECT value FROM json_each(?)) "
            "ORDER BY number LIMIT ?"
        )

        def work(connection: sqlite3.Connection) -> list[tuple[int, str, str]]:
            return connection.execute(query, (json.dumps(list(self._unreleased)), limit)).fetchall()

        return [PendingEvent(number, name, json.loads(data)) for number, name, data in await self._database.run(work)]

    def _note(self, connection: sqlite3.Connection, event: PendingEvent) -> int:
        data = json.dumps(event.data, ensure_ascii=True)
        cursor = connection.execute("INSERT INTO events (name, data) VALUES (?, ?)", (event.name, data))
        number = int(cursor.lastrowid or 0)
        self._unreleased.add(number)
        return number


def digest_of(*parts: str | None) -> str:
    """A digest that differs between requests."""
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def checked_key(key: str | None) -> str | None:
    """An idempotency key; error: Conflict when it is too long."""
    if key is not None and not 0 < len(key) <= _LONGEST_KEY:
        raise Conflict(
            f"idempotency_key: 1 to {_LONGEST_KEY} characters are allowed.", status=422, key="idempotency_key_length"
        )
    return key
