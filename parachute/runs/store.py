"""`runs.db`: what a run has said so far, so that nothing is lost when core dies."""

import json
import sqlite3

from parachute.clock import now
from parachute.database import Database
from parachute.runs.events import Event


def m0001_runs(connection: sqlite3.Connection) -> None:
    """Runs, and their events in batches."""
    connection.execute(
        "CREATE TABLE runs (id INTEGER PRIMARY KEY, session TEXT NOT NULL, status TEXT NOT NULL, "
        "started_at TEXT NOT NULL, ended_at TEXT) STRICT"
    )
    connection.execute("CREATE INDEX runs_by_session ON runs (session, id)")
    # A batch's id is its run and its last seq in one number: rows are only ever added behind the last one, which touches
    # a single page, and an SD card wears with every page that is written.
    connection.execute("CREATE TABLE batches (id INTEGER PRIMARY KEY, events TEXT NOT NULL) STRICT")
    connection.execute(
        "CREATE TRIGGER batches_of_deleted_run AFTER DELETE ON runs BEGIN "
        "DELETE FROM batches WHERE id BETWEEN old.id << 32 AND (old.id << 32) + 0xFFFFFFFF; END"
    )


ALL = (m0001_runs,)

PAGE_SIZE = 512
"""Bytes; SQLite's smallest, since each batch of a slow answer writes at least one."""


class RunStore:
    """Runs and their logged events."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def interrupt_running(self) -> int:
        """Mark what an earlier core left running; the number of runs."""
        return await self._database.write(
            "UPDATE runs SET status = 'interrupted', ended_at = ? WHERE status = 'running'", (now(),)
        )

    async def begin(self, session: str) -> int:
        """A new run's id; runs of the session that ended and are complete in its transcript are dropped."""
        async with self._database.transaction() as connection:
            await connection.execute(
                "DELETE FROM runs WHERE session = ? AND status IN ('done', 'aborted', 'error')", (session,)
            )
            cursor = await connection.execute(
                "INSERT INTO runs (session, status, started_at) VALUES (?, 'running', ?)", (session, now())
            )
            assert cursor.lastrowid is not None
            return cursor.lastrowid

    async def append(self, run: int, events: list[tuple[int, Event]]) -> None:
        """Store a batch of (seq, event)."""
        text = json.dumps(events, ensure_ascii=False, separators=(",", ":"))
        await self._database.write("INSERT INTO batches VALUES (?, ?)", ((run << 32) + events[-1][0], text))

    async def end(self, run: int, status: str) -> None:
        """Record how a run ended; interrupted runs before it in the same session are history now."""
        async with self._database.transaction() as connection:
            await connection.execute("UPDATE runs SET status = ?, ended_at = ? WHERE id = ?", (status, now(), run))
            if status == "done":
                await connection.execute(
                    "DELETE FROM runs WHERE session = (SELECT session FROM runs WHERE id = ?) AND id < ?", (run, run)
                )

    async def last(self, session: str) -> tuple[int, str] | None:
        """(id, status) of a session's last run."""
        row = await self._database.row(
            "SELECT id, status FROM runs WHERE session = ? ORDER BY id DESC LIMIT 1", (session,)
        )
        return (row[0], row[1]) if row else None

    async def events(self, run: int) -> list[tuple[int, Event]]:
        """All logged events of a run."""
        first, last = run << 32, (run << 32) + 0xFFFFFFFF
        query = "SELECT events FROM batches WHERE id BETWEEN ? AND ? ORDER BY id"
        rows = await self._database.rows(query, (first, last))
        return [(seq, event) for (text,) in rows for seq, event in json.loads(text)]

    async def forget(self, session: str) -> None:
        """Remove all runs of a session."""
        await self._database.write("DELETE FROM runs WHERE session = ?", (session,))
