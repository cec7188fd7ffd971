"""Rows of conversations whose end is still to be published, written with the change that ends them."""

import asyncio
import json
import sqlite3
from collections.abc import Callable, Sequence
from typing import Any

from aiosqlite import Connection
from msgspec import Struct

from parachute.base.database import Database

PAGE = 1000

_MARK = "(SELECT value FROM marks WHERE name = 'session.end')"
_DATA = (
    "json_object('session_id', id, 'message_count', sessions.message_count, 'started_at', created_at, 'ended_at', updated_at, "
    "'duration', max(0, CAST(round((julianday(updated_at) - julianday(created_at)) * 86400) AS INTEGER)))"
)
# Of a session of a module nobody says that it is over but the time.
_CLOSED = (
    f"SELECT id, message_count, 1, ? FROM sessions WHERE id = ? AND updated_at > COALESCE({_MARK}, '') "  # noqa: S608
    "AND json_extract(metadata, '$.module') IS NULL "
)
_PUBLISHED = "EXISTS (SELECT 1 FROM endings WHERE session = id AND endings.message_count = sessions.message_count)"

# Of the others the mark says the same.
_FORGET = (
    "DELETE FROM endings WHERE NOT is_due AND NOT EXISTS "  # noqa: S608
    f"(SELECT 1 FROM sessions WHERE id = session AND updated_at > COALESCE({_MARK}, ''))"
)


def create_endings(connection: sqlite3.Connection) -> None:
    """Ends of sessions: those that are due, and up to which message they were published. `data` is of one that is deleted."""
    connection.execute(
        "CREATE TABLE endings (session TEXT PRIMARY KEY, message_count INTEGER NOT NULL, is_due INTEGER NOT NULL, "
        "data TEXT) STRICT, WITHOUT ROWID"
    )


async def close(connection: Connection, session: str) -> None:
    """A person has closed a session: its end is due, unless it was published and nothing was said since."""
    await connection.execute(
        f"INSERT INTO endings {_CLOSED} ON CONFLICT DO UPDATE SET message_count = excluded.message_count, is_due = 1 "
        "WHERE endings.message_count != excluded.message_count",
        (None, session),
    )


async def mark_published(connection: Connection, session: str) -> None:
    """A session came from elsewhere, where it has ended: hooks and memory hear of it when somebody goes on with it."""
    await connection.execute(
        "INSERT OR REPLACE INTO endings SELECT id, message_count, 0, NULL FROM sessions WHERE id = ?", (session,)
    )


async def reopen(connection: Connection, session: str) -> None:
    """A person goes on with a session: an end that was not published is none."""
    await connection.execute("DELETE FROM endings WHERE session = ? AND is_due", (session,))


async def delete(connection: Connection, session: str) -> None:
    """A session is about to be deleted: what is to be published of its end is kept."""
    rows = await connection.execute_fetchall(f"SELECT {_DATA} FROM sessions WHERE id = ?", (session,))  # noqa: S608
    await connection.execute(
        f"INSERT INTO endings {_CLOSED} ON CONFLICT DO UPDATE SET data = excluded.data, "
        "is_due = is_due OR endings.message_count != excluded.message_count",
        (*(row[0] for row in rows), session) if rows else (None, session),
    )
    await connection.execute("DELETE FROM endings WHERE session = ? AND NOT is_due", (session,))


class Ending(Struct, frozen=True):
    """An end that is due after so many messages. `is_final`: whoever closed the session has put it away or deleted it.

    `data` is that of the event, None where somebody has gone on with the session, so that it has not ended.
    """

    session: str
    message_count: int
    is_final: bool
    data: dict[str, Any] | None


class Endings:
    """Reads and writes them in `sessions.db`; `closed` is set when somebody has closed a session."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self.closed = asyncio.Event()

    async def find_idle(self, until: str, is_active: Callable[[str], bool]) -> bool:
        """Make the end of sessions due that did not change after `until`, the oldest first; True if there may be more.

        One that is being answered becomes young again by the end of that.
        """
        (mark,) = await self._database.row(f"SELECT {_MARK}") or (None,)
        if mark is None:
            await self.set_mark(until)
            return False
        rows = await self._database.rows(
            f"SELECT id, updated_at, {_PUBLISHED} FROM sessions WHERE updated_at <= ? AND updated_at > ? "  # noqa: S608
            "ORDER BY updated_at LIMIT ?",
            (until, mark, PAGE),
        )
        if not rows:
            return False  # a mark that moves by itself is a write for nothing
        found = [session for session, _, is_published in rows if not is_published and not is_active(session)]
        is_full = len(rows) >= PAGE
        async with self._database.transaction() as connection:
            await connection.execute(
                "INSERT OR REPLACE INTO endings SELECT id, message_count, 1, NULL FROM sessions "  # noqa: S608
                f"WHERE id IN (SELECT value FROM json_each(?)) AND updated_at <= ? AND NOT {_PUBLISHED}",
                (json.dumps(found), until),
            )
            passed = rows[-1][1] if is_full else until
            await connection.execute("INSERT OR REPLACE INTO marks VALUES ('session.end', ?)", (passed,))
            await connection.execute(_FORGET)
        return is_full

    async def set_mark(self, until: str) -> None:
        """Remember until when sessions have ended by being idle."""
        await self._database.write("INSERT OR REPLACE INTO marks VALUES ('session.end', ?)", (until,))

    async def due(self) -> Sequence[Ending]:
        """Return the ends that are to be published, PAGE at the most."""
        rows = await self._database.rows(
            "SELECT session, endings.message_count, COALESCE(archived, 1), COALESCE(data, iif(id IS NULL OR (NOT archived AND "  # noqa: S608
            f"endings.message_count != sessions.message_count), NULL, {_DATA})) "
            "FROM endings LEFT JOIN sessions ON id = session WHERE is_due LIMIT ?",
            (PAGE,),
        )
        return [
            Ending(session, count, bool(is_final), json.loads(data) if data else None)
            for session, count, is_final, data in rows
        ]

    async def published(self, ending: Ending) -> None:
        """Remember that an end was published, or need not be; one that has become due meanwhile stays."""
        key = (ending.session, ending.message_count)
        async with self._database.transaction() as connection:
            if ending.data is None:
                await connection.execute("DELETE FROM endings WHERE session = ? AND message_count = ?", key)
                return
            count = ending.data["message_count"]
            await connection.execute(
                "UPDATE endings SET is_due = 0, message_count = ? WHERE session = ? AND message_count = ?",
                (count, *key),
            )
            await connection.execute(f"{_FORGET} AND session = ?", (ending.session,))
