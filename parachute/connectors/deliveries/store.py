"""Deliveries to chats, in `~/.parachute/messengers.db`."""

import json
import sqlite3
from typing import Any

import msgspec
from msgspec import Struct, to_builtins

from parachute.base.clock import SYSTEM, Clock, as_text
from parachute.base.database import Database
from parachute.connectors.platforms.models import Outgoing

_KEPT = 5000
"""Messages that were sent, by their keys alone: what was answered before a crash is not sent again after it."""

_STORED = "platform, key, chat, body, state, since"


def create_deliveries(connection: sqlite3.Connection) -> None:
    """One row for each message; the text goes when it is delivered."""
    connection.execute(
        "CREATE TABLE deliveries (number INTEGER PRIMARY KEY, platform TEXT NOT NULL, key TEXT NOT NULL, chat TEXT NOT NULL, "
        "body TEXT NOT NULL, state TEXT NOT NULL, problem TEXT NOT NULL DEFAULT '', tries INTEGER NOT NULL DEFAULT 0, "
        "since TEXT NOT NULL, UNIQUE (platform, key)) STRICT"
    )
    connection.execute("CREATE INDEX open_deliveries ON deliveries (platform, number) WHERE state != 'sent'")


class Delivery(Struct, frozen=True):
    """A message for a chat under its key; `problem` is why it could not be delivered, if nothing more is tried."""

    number: int
    platform: str
    key: str
    outgoing: Outgoing
    problem: str
    tries: int
    since: str

    @property
    def words(self) -> str:
        """Return a short form of its text, and the files that go with it."""
        files = (f"[{file.name}]" for file in self.outgoing.files)
        return " ".join(filter(None, (self.outgoing.markdown, *files)))[:200]


class DeliveryStore:
    """Messages: waiting, failed for good, sent."""

    def __init__(self, database: Database, clock: Clock = SYSTEM) -> None:
        self._database = database
        self._clock = clock

    async def put(self, platform: str, key: str, outgoing: Outgoing, *, again: bool = False) -> None:
        """Store a message; one with this key that was stored before stays, or with `again` shows this from now on."""
        body = json.dumps(to_builtins(outgoing), ensure_ascii=False)
        conflict = (
            "DO UPDATE SET body = excluded.body, state = 'waiting', problem = '', tries = 0" if again else "DO NOTHING"
        )
        async with self._database.transaction() as connection:
            await connection.execute(
                f"INSERT INTO deliveries ({_STORED}) VALUES (?, ?, ?, ?, 'waiting', ?) ON CONFLICT (platform, key) {conflict}",  # noqa: S608 - fixed
                (platform, key, outgoing.chat.id, body, as_text(self._clock.now())),
            )
            await connection.execute(
                "DELETE FROM deliveries WHERE state = 'sent' AND number <= "
                "(SELECT number FROM deliveries ORDER BY number DESC LIMIT 1 OFFSET ?)",
                (_KEPT,),
            )

    async def waiting(self, platform: str, limit: int = 100) -> list[Delivery]:
        """The oldest messages that are still to be sent."""
        return await self._deliveries("platform = ? AND state = 'waiting' ORDER BY number LIMIT ?", (platform, limit))

    async def failed(self, limit: int = 200) -> list[Delivery]:
        """Return the failed deliveries, the newest first."""
        return await self._deliveries("state = 'failed' ORDER BY number DESC LIMIT ?", (limit,))

    async def platforms(self) -> set[str]:
        """Platforms for which something is still to be sent."""
        return {
            name
            for (name,) in await self._database.rows("SELECT DISTINCT platform FROM deliveries WHERE state = 'waiting'")
        }

    async def count(self, platform: str, state: str) -> int:
        """Count the messages of a platform in a state."""
        query = "SELECT count(*) FROM deliveries WHERE platform = ? AND state = ?"
        row = await self._database.row(query, (platform, state))
        return int(row[0]) if row else 0

    async def has(self, platform: str, key: str) -> bool:
        """Return whether a message was stored under a key, whatever became of it."""
        query = "SELECT 1 FROM deliveries WHERE platform = ? AND key = ?"
        return await self._database.row(query, (platform, key)) is not None

    async def count_begun(self, platform: str, begin: str) -> int:
        """Count the stored messages whose keys begin so."""
        query = "SELECT count(*) FROM deliveries WHERE platform = ? AND substr(key, 1, ?) = ?"
        row = await self._database.row(query, (platform, len(begin), begin))
        return int(row[0]) if row else 0

    async def open(self, platform: str, chat: str) -> list[Delivery]:
        """Return the deliveries of a chat that wait or failed."""
        return await self._deliveries("platform = ? AND chat = ? AND state != 'sent' LIMIT 10000", (platform, chat))

    async def get_failed(self, number: int) -> Delivery | None:
        """One that could not be delivered."""
        found = await self._deliveries("number = ? AND state = 'failed'", (number,))
        return found[0] if found else None

    async def sent(self, delivery: Delivery) -> None:
        """Note that a message is there, and forget its text; one that was changed meanwhile goes on waiting."""
        body = json.dumps(to_builtins(delivery.outgoing), ensure_ascii=False)
        await self._database.write(
            "UPDATE deliveries SET state = 'sent', body = '', problem = '' WHERE number = ? AND body = ?",
            (delivery.number, body),
        )

    async def tried(self, delivery: Delivery) -> None:
        """Note a try that failed."""
        await self._database.write("UPDATE deliveries SET tries = tries + 1 WHERE number = ?", (delivery.number,))

    async def fail(self, delivery: Delivery, problem: str) -> None:
        """Note that a message cannot be delivered."""
        await self._database.write(
            "UPDATE deliveries SET state = 'failed', problem = ? WHERE number = ?", (problem[:500], delivery.number)
        )

    async def retry(self, number: int) -> bool:
        """Try a message again that could not be delivered; False if there is none."""
        return bool(
            await self._database.write(
                "UPDATE deliveries SET state = 'waiting', tries = 0, since = ? WHERE number = ? AND state = 'failed'",
                (as_text(self._clock.now()), number),
            )
        )

    async def discard(self, number: int) -> bool:
        """Forget a message that could not be delivered; False if there is none."""
        return bool(
            await self._database.write("DELETE FROM deliveries WHERE number = ? AND state = 'failed'", (number,))
        )

    async def forget(self, platform: str, chat: str) -> None:
        """Forget what a chat was still to be told."""
        await self._database.write(
            "DELETE FROM deliveries WHERE platform = ? AND chat = ? AND state != 'sent'", (platform, chat)
        )

    async def _deliveries(self, condition: str, parameters: tuple[Any, ...]) -> list[Delivery]:
        rows = await self._database.rows(
            f"SELECT number, platform, key, body, problem, tries, since FROM deliveries WHERE {condition}",  # noqa: S608 - fixed
            parameters,
        )
        return [
            Delivery(number, platform, key, msgspec.json.decode(body, type=Outgoing), problem, tries, since)
            for number, platform, key, body, problem, tries, since in rows
        ]
