"""Updates in `~/.parachute/messengers.db`: an id comes once, and its text stays only until it is answered."""

import json
import sqlite3
from collections.abc import Sequence

import msgspec
from msgspec import Struct, to_builtins
from msgspec.structs import replace

from parachute.base.clock import now
from parachute.base.database import Database
from parachute.connectors.platforms.models import Update

_KEPT_IDS = 20_000
"""Ids of updates that are done, by platform: longer than any platform goes back."""


def create_updates(connection: sqlite3.Connection) -> None:
    """Create the tables of updates, of batches that are answered together, and of each platform's position."""
    connection.execute(
        "CREATE TABLE updates (number INTEGER PRIMARY KEY, platform TEXT NOT NULL, id TEXT NOT NULL, "
        "chat TEXT NOT NULL, message TEXT NOT NULL, body TEXT NOT NULL, batch TEXT, state TEXT NOT NULL, "
        "came_at TEXT NOT NULL, UNIQUE (platform, id)) STRICT"
    )
    connection.execute("CREATE INDEX open_updates ON updates (platform, chat, number) WHERE state != 'done'")
    connection.execute("CREATE INDEX updates_of_batch ON updates (batch) WHERE batch IS NOT NULL")
    connection.execute(
        "CREATE TABLE batches (id TEXT PRIMARY KEY, platform TEXT NOT NULL, chat TEXT NOT NULL, session TEXT, run INTEGER, "
        "tries INTEGER NOT NULL DEFAULT 0) "
        "STRICT, WITHOUT ROWID"
    )
    connection.execute(
        "CREATE TABLE positions (platform TEXT PRIMARY KEY, position TEXT NOT NULL) STRICT, WITHOUT ROWID"
    )


class Stored(Struct, frozen=True):
    """An update with its number, in whose order its chat is answered."""

    number: int
    update: Update


class Batch(Struct, frozen=True):
    """Updates of a chat that are answered together; `session` and `run` as soon as there is one, `tries` that were begun."""

    id: str
    platform: str
    chat: str
    session: str | None
    run: int | None
    tries: int


_NOT_ASKED = (
    "platform = ? AND chat = ? AND message = ? AND "
    "(state = 'waiting' OR (state = 'taken' AND batch IN (SELECT id FROM batches WHERE run IS NULL)))"
)
_FIND_NOT_ASKED = f"SELECT number, body FROM updates WHERE {_NOT_ASKED}"  # noqa: S608 - a constant
_FIND_ASKED = "SELECT max(came_at) FROM updates WHERE platform = ? AND chat = ? AND message = ? AND state IN ('taken', 'done', 'note')"
"""An update of which an agent was asked keeps the id of its message, all others lose it."""


class UpdateStore:
    """Updates from their arrival to their answer: waiting, taken by a batch, done; a note goes with the next batch."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(self, platform: str, updates: Sequence[tuple[Update, bool]], position: str) -> None:
        """Store updates whose ids are new, and the position behind them; False: only the id of one, for which nothing is left to do."""
        moment = now()
        async with self._database.transaction() as connection:
            for update, is_open in updates:
                body = json.dumps(to_builtins(update), ensure_ascii=False) if is_open else ""
                await connection.execute(
                    "INSERT OR IGNORE INTO updates (platform, id, chat, message, body, state, came_at) "
                    "VALUES (?, ?, ?, ?, ?, ?, ?)",
                    (
                        platform,
                        update.id,
                        update.chat.id,
                        update.message if is_open else "",
                        body,
                        "waiting" if is_open else "done",
                        moment,
                    ),
                )
            if position:
                await connection.execute("INSERT OR REPLACE INTO positions VALUES (?, ?)", (platform, position))
            await connection.execute(
                "DELETE FROM updates WHERE platform = ?1 AND state = 'done' AND number <= "
                "(SELECT number FROM updates WHERE platform = ?1 ORDER BY number DESC LIMIT 1 OFFSET ?2)",
                (platform, _KEPT_IDS),
            )

    async def position(self, platform: str) -> str:
        """Return the position at which a platform goes on; empty for one that has not begun."""
        row = await self._database.row("SELECT position FROM positions WHERE platform = ?", (platform,))
        return str(row[0]) if row else ""

    async def known(self, platform: str, identifiers: Sequence[str]) -> set[str]:
        """Choose the ids that came before."""
        marks = ", ".join("?" * len(identifiers))
        query = f"SELECT id FROM updates WHERE platform = ? AND id IN ({marks})"  # noqa: S608 - question marks
        return {found for (found,) in await self._database.rows(query, (platform, *identifiers))}

    async def open_chats(self) -> list[tuple[str, str]]:
        """Chats in which something waits or was being answered."""
        rows = await self._database.rows(
            "SELECT DISTINCT platform, chat FROM updates WHERE state IN ('waiting', 'taken') LIMIT 10000"
        )
        return [(platform, chat) for platform, chat in rows]

    async def waiting(self, platform: str, chat: str, limit: int) -> list[Stored]:
        """The oldest updates of a chat that nobody has taken."""
        return await self._stored(
            "SELECT number, body FROM updates WHERE platform = ? AND chat = ? AND state = 'waiting' "
            "ORDER BY number LIMIT ?",
            (platform, chat, limit),
        )

    async def count_waiting(self, platform: str | None = None, chat: str | None = None) -> int:
        """Count the waiting updates, in one chat or in all."""
        row = await self._database.row(
            "SELECT count(*) FROM updates WHERE state IN ('waiting', 'taken') AND (?1 IS NULL OR platform = ?1) AND (?2 IS NULL OR chat = ?2)",
            (platform, chat),
        )
        return int(row[0]) if row else 0

    async def rewrite(self, platform: str, update: Update) -> None:
        """Give a message that no agent has been asked the text it has now; to the agent of another one it is said."""
        found = await self._stored(_FIND_NOT_ASKED, (platform, update.chat.id, update.message))
        for each in found:
            body = {**to_builtins(each.update), "text": update.text}
            await self._database.write(
                "UPDATE updates SET body = ? WHERE number = ? AND body != ''",
                (json.dumps(body, ensure_ascii=False), each.number),
            )
        if not found:
            await self._note(platform, update, f"was changed since by who wrote it. It says now:\n{update.text}")

    async def withdraw(self, platform: str, update: Update) -> list[Stored]:
        """Forget a message that no agent has been asked, since it was deleted; to the agent of another one it is said.

        Returns what was forgotten.
        """
        place = (platform, update.chat.id, update.message)
        found = await self._stored(_FIND_NOT_ASKED, place)
        await self.done([each.number for each in found])
        if not found:
            await self._note(
                platform, update, "was deleted by who wrote it: do not repeat what it said, and do not use it."
            )
        return found

    async def notes(self, platform: str, chat: str) -> list[Stored]:
        """Notes about messages that an agent was asked and that were changed since, for its next message."""
        query = "SELECT number, body FROM updates WHERE platform = ? AND chat = ? AND state = 'note' ORDER BY number"
        return await self._stored(query, (platform, chat))

    async def _note(self, platform: str, update: Update, sentence: str) -> None:
        place = (platform, update.chat.id, update.message)
        row = await self._database.row(_FIND_ASKED, place)
        if row is None or row[0] is None:
            return
        moment = str(row[0])[:16].replace("T", " ")
        body = to_builtins(replace(update, text=f"[The message of {moment} UTC {sentence}]"))
        async with self._database.transaction() as connection:
            await connection.execute(
                "UPDATE updates SET state = 'done', body = '' WHERE platform = ? AND chat = ? AND message = ? AND state = 'note'",
                place,
            )
            await connection.execute(
                "INSERT OR IGNORE INTO updates (platform, id, chat, message, body, state, came_at) "
                "VALUES (?, ?, ?, ?, ?, 'note', ?)",
                (platform, update.id, *place[1:], json.dumps(body, ensure_ascii=False), row[0]),
            )

    async def take(self, batch: Batch, numbers: Sequence[int]) -> None:
        """Begin a batch, or add to it; what it has is not taken by another one."""
        async with self._database.transaction() as connection:
            await connection.execute(
                "INSERT OR IGNORE INTO batches VALUES (?, ?, ?, NULL, NULL, 0)", (batch.id, batch.platform, batch.chat)
            )
            for number in numbers:
                await connection.execute(
                    "UPDATE updates SET state = 'taken', batch = ? WHERE number = ? AND state = 'waiting'",
                    (batch.id, number),
                )

    async def batch(self, platform: str, chat: str) -> Batch | None:
        """The batch of a chat that was not finished."""
        row = await self._database.row("SELECT * FROM batches WHERE platform = ? AND chat = ?", (platform, chat))
        return Batch(*row) if row else None

    async def of_batch(self, batch: str) -> list[Stored]:
        """The updates of a batch in their order."""
        query = "SELECT number, body FROM updates WHERE batch = ? AND state = 'taken' ORDER BY number"
        return await self._stored(query, (batch,))

    async def trying(self, batch: str) -> None:
        """Note that a batch is about to be answered: one that ends the server each time is given up."""
        await self._database.write("UPDATE batches SET tries = tries + 1, run = NULL WHERE id = ?", (batch,))

    async def begun(self, batch: str, session: str, run: int, notes: Sequence[Stored] = ()) -> None:
        """Note the run that answers a batch, and the notes that went with it."""
        async with self._database.transaction() as connection:
            await connection.execute("UPDATE batches SET session = ?, run = ? WHERE id = ?", (session, run, batch))
            for each in notes:
                await connection.execute(
                    "UPDATE updates SET state = 'done', body = '' WHERE number = ?", (each.number,)
                )

    async def finish(self, batch: str) -> None:
        """Note that a batch was answered, and forget what was written."""
        async with self._database.transaction() as connection:
            await connection.execute(
                "UPDATE updates SET state = 'done', body = '', batch = NULL WHERE batch = ?", (batch,)
            )
            await connection.execute("DELETE FROM batches WHERE id = ?", (batch,))

    async def done(self, numbers: Sequence[int]) -> None:
        """Note that updates need nothing more, and forget what was written."""
        async with self._database.transaction() as connection:
            for number in numbers:
                await connection.execute(
                    "UPDATE updates SET state = 'done', body = '', message = '' WHERE number = ?", (number,)
                )

    async def move(self, platform: str, chat: str, other: str) -> None:
        """Put the messages of a chat that nobody has taken under the id that it has now."""
        await self._database.write(
            "UPDATE updates SET chat = ? WHERE platform = ? AND chat = ? AND state IN ('waiting', 'note')",
            (other, platform, chat),
        )

    async def forget(self, platform: str, chat: str) -> None:
        """Forget the messages of a chat, and its open batches."""
        async with self._database.transaction() as connection:
            await connection.execute(
                "UPDATE updates SET state = 'done', body = '', message = '', batch = NULL WHERE platform = ? AND chat = ?",
                (platform, chat),
            )
            await connection.execute("DELETE FROM batches WHERE platform = ? AND chat = ?", (platform, chat))

    async def _stored(self, query: str, parameters: Sequence[object]) -> list[Stored]:
        rows = await self._database.rows(query, parameters)
        return [Stored(number, msgspec.json.decode(body, type=Update)) for number, body in rows]
