"""Messages that were taken under a key of whoever sent them: the same key again is the same message, after a restart, too."""

import asyncio
import contextlib
import sqlite3
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Annotated

from pydantic import Field

from parachute.base.clock import now
from parachute.base.database import Database
from parachute.base.errors import Conflict
from parachute.chat.runs.events import Event, UserMessage

MessageKey = Annotated[str, Field(min_length=16, max_length=64, pattern=r"^[0-9A-Za-z_-]+$")]

_LOCKS = 64
_KEPT = 20_000
"""Keys; whoever has waited for longer with a message is told that its conversation is another one by now."""


def create_taken(connection: sqlite3.Connection) -> None:
    """One row for each key; the oldest go, by a trigger, so that a message is one statement."""
    connection.execute(
        "CREATE TABLE taken (number INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, session TEXT NOT NULL, "
        "run INTEGER NOT NULL, message TEXT NOT NULL, taken_at TEXT NOT NULL) STRICT"
    )
    connection.execute(
        f"CREATE TRIGGER older_taken AFTER INSERT ON taken BEGIN DELETE FROM taken WHERE number <= new.number - {_KEPT}; END"  # noqa: S608
    )


class TakenMessages:
    """`events` gives the stored events of a run."""

    def __init__(self, database: Database, events: Callable[[int], Awaitable[list[tuple[int, Event]]]]) -> None:
        self._database = database
        self._events = events
        self._locks = [asyncio.Lock() for _ in range(_LOCKS)]

    @contextlib.asynccontextmanager
    async def asked(self, key: str | None, session: str, message: str) -> AsyncIterator[str | None]:
        """Give the session that has the message of a key already, and let nobody else send it meanwhile.

        Error: Conflict where the key is that of another message: this one would be lost if it counted as taken.
        """
        if key is None:
            yield None
            return
        async with self._locks[hash(key) % _LOCKS]:
            found = await self._taken(key)
            if found is not None and (session not in ("new", found[0]) or not message.endswith(found[1])):
                raise Conflict(
                    "Another message was sent under this idempotency key.",
                    "Send each message under a key of its own.",
                    key="idempotency_key_used",
                )
            yield found and found[0]

    async def add(self, key: str, session: str, run: int, message: str) -> None:
        """Record the id that a message has in the events of a run; before these are stored, since a message without a key would be sent again."""
        await self._database.write(
            "INSERT OR REPLACE INTO taken (key, session, run, message, taken_at) VALUES (?, ?, ?, ?, ?)",
            (key, session, run, message, now()),
        )

    async def _taken(self, key: str) -> tuple[str, str] | None:
        """Return the session of a key and its message, as far as it is known: that to the maintenance agent without the call."""
        row = await self._database.row("SELECT session, run, message FROM taken WHERE key = ?", (key,))
        if row is None:
            return None
        session, run, message = row
        of_run = await self._database.row("SELECT id FROM runs WHERE id = ? AND session = ?", (run, session))
        if of_run is None:
            # A run that is gone has ended, with its message in the transcript.
            return str(session), ""
        events = (event for _, event in await self._events(run) if isinstance(event, UserMessage))
        # None where the server ended between the key and the message.
        return next(((str(session), event.content) for event in events if event.id == message), None)
