"""What must outlive a crash beside the files: which requests were done, and which events are still to be told."""

import hashlib
import json
import sqlite3
import time
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
class Told:
    """An event that is to be told; `number` is its place in the queue."""

    number: int
    name: str
    data: dict[str, Any]


class State:
    """The database; every change is on disk when its call returns."""

    def __init__(self, path: Path) -> None:
        self._database = Database(path, _SCHEMA)

    def close(self) -> None:
        """Close the file."""
        self._database.close()

    async def ask(self, key: str | None, digest: str, entry: str, date: str, event: Told) -> tuple[Asked, int]:
        """Note what is about to be written, and the event that follows; error: Conflict for a key with other content.

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
                            "idempotency_key: it was used with another text.", "Use a new key for each entry."
                        )
                    return Asked(row[0], row[1], bool(row[2])), 0
                connection.execute(
                    "INSERT INTO requests (key, digest, entry, date, at) VALUES (?, ?, ?, ?, ?)",
                    (key, digest, entry, date, time.time()),
                )
            return Asked(entry, date, False), _tell(connection, event)

        return await self._database.run(work)

    async def written(self, key: str) -> None:
        """Note that the entry of a key is in its file."""
        await self._execute("UPDATE requests SET written = 1 WHERE key = ?", key)

    async def tell(self, event: Told) -> int:
        """Note an event that is to be told, and return its number."""
        return await self._database.run(lambda connection: _tell(connection, event))

    async def told(self, number: int) -> None:
        """Forget an event."""
        await self._execute("DELETE FROM events WHERE number = ?", number)

    async def waiting(self) -> list[Told]:
        """Events that are to be told, in order."""
        query = "SELECT number, name, data FROM events ORDER BY number LIMIT 1000"
        rows = await self._database.run(lambda connection: connection.execute(query).fetchall())
        return [Told(row[0], row[1], json.loads(row[2])) for row in rows]

    async def _execute(self, statement: str, value: str | int) -> None:
        def work(connection: sqlite3.Connection) -> None:
            connection.execute(statement, (value,))

        await self._database.run(work)


def digest_of(*parts: str | None) -> str:
    """What tells one request from another."""
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def checked_key(key: str | None) -> str | None:
    """An idempotency key; error: Conflict when it is too long."""
    if key is not None and not 0 < len(key) <= _LONGEST_KEY:
        raise Conflict(f"idempotency_key: 1 to {_LONGEST_KEY} characters are allowed.", status=422)
    return key


def _tell(connection: sqlite3.Connection, event: Told) -> int:
    data = json.dumps(event.data, ensure_ascii=True)
    cursor = connection.execute("INSERT INTO events (name, data) VALUES (?, ?)", (event.name, data))
    return int(cursor.lastrowid or 0)
