"""Stored runs, so that nothing is lost when the server dies: a row in `runs.db`, events in `runs/`."""

import asyncio
import json
import sqlite3
from pathlib import Path

from aiosqlite import Connection

from parachute.base.clock import now
from parachute.base.database import Database
from parachute.base.errors import Unavailable
from parachute.chat.runs.event_files import EventFiles
from parachute.chat.runs.events import Event, read
from parachute.chat.runs.taken import TakenMessages, create_taken
from parachute.chat.runs.turn_store import create_turns, drop_older_turns


def m0001_runs(connection: sqlite3.Connection) -> None:
    """Runs, and their events in batches."""
    connection.execute(
        "CREATE TABLE runs (id INTEGER PRIMARY KEY, session TEXT NOT NULL, status TEXT NOT NULL, "
        "started_at TEXT NOT NULL, ended_at TEXT) STRICT"
    )
    connection.execute("CREATE INDEX runs_by_session ON runs (session, id)")
    connection.execute("CREATE TABLE batches (id INTEGER PRIMARY KEY, events TEXT NOT NULL) STRICT")
    connection.execute(
        "CREATE TRIGGER batches_of_deleted_run AFTER DELETE ON runs BEGIN "
        "DELETE FROM batches WHERE id BETWEEN old.id << 32 AND (old.id << 32) + 0xFFFFFFFF; END"
    )


def m0002_event_files(connection: sqlite3.Connection) -> None:
    """Events move into files; a batch's id was its run and its last seq in one number."""
    ((_, _, path),) = connection.execute("PRAGMA database_list").fetchall()
    files = EventFiles(_folder(Path(path)))
    files.remove_others(set())  # what an earlier try of this step has written
    for run, events in connection.execute("SELECT id >> 32, events FROM batches ORDER BY id"):
        files.append(run, json.loads(events))
    connection.execute("DROP TRIGGER batches_of_deleted_run")
    connection.execute("DROP TABLE batches")


ALL = (m0001_runs, m0002_event_files, create_turns, drop_older_turns, create_taken)

_PLACES = "SELECT id, row_number() OVER (PARTITION BY session ORDER BY id DESC) AS place FROM runs"

_UNFINISHED = 8
"""Runs of a session that are kept although they did not end well: what was said in them may be nowhere else."""

PAGE_SIZE = 512
"""Bytes; SQLite's smallest, since the rows are small and every changed page is written whole."""


class RunStore:
    """Runs and their logged events."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._files = EventFiles(_folder(database.path))
        self.taken = TakenMessages(database, self.events)

    async def interrupt_running(self) -> int:
        """Mark the runs that the last server left; their number. Of a session only the newest are kept."""
        async with self._database.transaction() as connection:
            cursor = await connection.execute(
                "UPDATE runs SET status = 'interrupted', ended_at = ? WHERE status = 'running'", (now(),)
            )
            interrupted = cursor.rowcount
            await self._drop(connection, f"id IN (SELECT id FROM ({_PLACES}) WHERE place > ?)", _UNFINISHED)  # noqa: S608
        known = {run for (run,) in await self._database.rows("SELECT id FROM runs")}
        await asyncio.to_thread(self._files.remove_others, known)
        return interrupted

    async def begin(self, session: str) -> int:
        """A new run's id; what is before it is dropped at its end, since somebody waits for its beginning."""
        return await self._database.insert(
            "INSERT INTO runs (session, status, started_at) VALUES (?, 'running', ?)", (session, now())
        )

    async def append(self, run: int, events: list[tuple[int, Event]]) -> None:
        """Store a batch of (seq, event)."""
        await asyncio.to_thread(self._files.append, run, [(seq, event.to_json()) for seq, event in events])

    async def end(self, run: int, status: str) -> None:
        """Record how a run ended, and drop those before it in its session.

        After one that ended well all of them are history; otherwise those that ended well, and all but the newest of the others.
        """
        async with self._database.transaction() as connection:
            await connection.execute("UPDATE runs SET status = ?, ended_at = ? WHERE id = ?", (status, now(), run))
            session = "session = (SELECT session FROM runs WHERE id = ?1)"
            newest = f"SELECT id FROM runs WHERE {session} ORDER BY id DESC LIMIT ?3"  # noqa: S608 - our own words
            ended = f"(?2 = 'done' OR status = 'done' OR id NOT IN ({newest}))"
            await self._drop(connection, f"{session} AND id < ?1 AND {ended}", run, status, _UNFINISHED)

    async def last(self, session: str) -> tuple[int, str] | None:
        """(id, status) of a session's last run."""
        row = await self._database.row(
            "SELECT id, status FROM runs WHERE session = ? ORDER BY id DESC LIMIT 1", (session,)
        )
        return (row[0], row[1]) if row else None

    async def interrupted(self, since: str) -> list[tuple[int, str]]:
        """(id, session) of the last runs of sessions that were interrupted since then; at most a hundred."""
        last = "SELECT MAX(id) FROM runs GROUP BY session"
        rows = await self._database.rows(
            f"SELECT id, session FROM runs WHERE status = 'interrupted' AND ended_at >= ? AND id IN ({last}) "  # noqa: S608
            "ORDER BY id DESC LIMIT 100",
            (since,),
        )
        return [(run, session) for run, session in rows]

    async def unfinished(self, session: str) -> list[int]:
        """Ids of the runs since the last one that ended well, which a transcript may not have; oldest first."""
        rows = await self._database.rows(
            "SELECT id FROM runs WHERE session = ?1 AND status != 'running' AND id > "
            "COALESCE((SELECT max(id) FROM runs WHERE session = ?1 AND status = 'done'), 0) ORDER BY id",
            (session,),
        )
        return [run for (run,) in rows]

    async def events(self, run: int) -> list[tuple[int, Event]]:
        """All logged events of a run, but those of another version that this one does not know."""
        stored = await asyncio.to_thread(self._files.read, run)
        return [(seq, event) for seq, document in stored if (event := read(document))]

    async def drop(self, run: int) -> None:
        """Remove one run."""
        async with self._database.transaction() as connection:
            await self._drop(connection, "id = ?", run)

    async def forget(self, session: str) -> None:
        """Remove all runs of a session, and its turns."""
        async with self._database.transaction() as connection:
            await connection.execute("DELETE FROM turns WHERE session = ?", (session,))
            await self._drop(connection, "session = ?", session)

    async def _drop(self, connection: Connection, condition: str, *parameters: str | int) -> None:
        query = f"DELETE FROM runs WHERE {condition} RETURNING id"  # noqa: S608 - fixed conditions
        runs = [run for (run,) in await connection.execute_fetchall(query, parameters)]
        if not runs:
            return
        # Before this is committed: a new run may get the id of one that is dropped, and would begin with its events.
        try:
            await asyncio.to_thread(self._files.remove, runs)
        except OSError as error:
            raise Unavailable(
                f"The events of earlier runs cannot be removed: {error}.", key="events_not_removed"
            ) from error


def _folder(database: Path) -> Path:
    return database.with_suffix("")
