"""Turns in `runs.db`: the little that is known of each when its events are gone."""

import sqlite3
from collections.abc import Sequence

from msgspec import Struct, json

from parachute.base.database import Database

_KEPT = 200
"""Turns of one session."""


def create_turns(connection: sqlite3.Connection) -> None:
    """One row for each turn, by the id of its message."""
    connection.execute(
        "CREATE TABLE turns (id INTEGER PRIMARY KEY, session TEXT NOT NULL, message TEXT NOT NULL, began_at TEXT NOT NULL, "
        "details TEXT NOT NULL) STRICT"
    )
    connection.execute("CREATE INDEX turns_by_session ON turns (session, id)")


def drop_older_turns(connection: sqlite3.Connection) -> None:
    """A new turn drops what is too old of its session; a trigger, so that a turn is one statement and waits for the disk once."""
    connection.execute(
        "CREATE TRIGGER older_turns AFTER INSERT ON turns BEGIN DELETE FROM turns WHERE session = new.session AND id <= "  # noqa: S608
        f"(SELECT id FROM turns WHERE session = new.session ORDER BY id DESC LIMIT 1 OFFSET {_KEPT}); END"
    )


class TurnDetails(Struct, frozen=True, omit_defaults=True):
    """The number of a turn's changes, its model, duration, use and the (workspace, host) pairs that were refused in it.

    `injected` are the ids of the messages that were put into it.
    """

    duration_ms: int
    changes: int | None = None
    model: str | None = None
    input_tokens: int = 0
    output_tokens: int = 0
    dollars: float = 0.0
    refused: tuple[tuple[str, str], ...] = ()
    injected: tuple[str, ...] = ()


class StoredTurn(Struct, frozen=True):
    """A turn that has ended."""

    message: str
    began_at: str
    details: TurnDetails


class TurnStore:
    """The newest turns of each session."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(self, run: int, message: str, details: TurnDetails) -> None:
        """Keep the turn of a run that is still known."""
        await self._database.write(
            "INSERT INTO turns (session, message, began_at, details) SELECT session, ?, started_at, ? FROM runs WHERE id = ?",
            (message, json.encode(details).decode(), run),
        )

    async def newest(self, session: str, limit: int) -> Sequence[StoredTurn]:
        """The newest turns of a session, the oldest of them first."""
        rows = await self._database.rows(
            "SELECT message, began_at, details FROM turns WHERE session = ? ORDER BY id DESC LIMIT ?", (session, limit)
        )
        return [StoredTurn(message, began, json.decode(text, type=TurnDetails)) for message, began, text in rows[::-1]]
