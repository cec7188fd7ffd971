"""Notices shown in the owner's chat, in `~/.parachute/messengers.db`: a button means exactly the text above it."""

import json
import sqlite3

from msgspec import Struct

from parachute.base.database import Database
from parachute.events.inbox.models import Item

_KEPT = 1000


def create_notices(connection: sqlite3.Connection) -> None:
    """One row for each item of the inbox that was shown."""
    connection.execute(
        "CREATE TABLE notices (number INTEGER PRIMARY KEY, platform TEXT NOT NULL, chat TEXT NOT NULL, item TEXT NOT NULL, "
        "hash TEXT NOT NULL, text TEXT NOT NULL, choices TEXT NOT NULL, is_over INTEGER NOT NULL DEFAULT 0, "
        "UNIQUE (platform, chat, item, hash)) STRICT"
    )


class Choice(Struct, frozen=True):
    """One button: its label, the answer of the item, and for a question of an agent what is answered to which question."""

    label: str
    word: str
    question: str = ""


class Notice(Struct, frozen=True):
    """An item as it was shown in a chat."""

    number: int
    platform: str
    chat: str
    item: str
    hash: str
    text: str
    choices: tuple[Choice, ...]
    is_over: bool

    @property
    def key(self) -> str:
        """The key of its message."""
        return f"notice-{self.number}"


class NoticeStore:
    """Notices: shown once for each form of an item."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(self, platform: str, chat: str, item: Item, text: str, choices: tuple[Choice, ...]) -> Notice | None:
        """Store what is about to be shown; None if it was before."""
        stored = json.dumps([[each.label, each.word, each.question] for each in choices], ensure_ascii=False)
        async with self._database.transaction() as connection:
            cursor = await connection.execute(
                "INSERT OR IGNORE INTO notices (platform, chat, item, hash, text, choices) VALUES (?, ?, ?, ?, ?, ?)",
                (platform, chat, item.id, item.hash, text, stored),
            )
            number = cursor.lastrowid if cursor.rowcount else None
            await connection.execute(
                "DELETE FROM notices WHERE is_over AND number <= (SELECT number FROM notices ORDER BY number DESC LIMIT 1 OFFSET ?)",
                (_KEPT,),
            )
        return None if number is None else Notice(number, platform, chat, item.id, item.hash, text, choices, False)

    async def has(self, platform: str, chat: str, item: Item) -> bool:
        """Return whether an item was shown as it is now."""
        query = "SELECT 1 FROM notices WHERE platform = ? AND chat = ? AND item = ? AND hash = ?"
        return await self._database.row(query, (platform, chat, item.id, item.hash)) is not None

    async def get(self, number: int, platform: str, chat: str) -> Notice | None:
        """One that was shown in a chat."""
        found = await self._notices("number = ? AND platform = ? AND chat = ?", (number, platform, chat))
        return found[0] if found else None

    async def open(self, platform: str, chat: str) -> list[Notice]:
        """Notices of a chat whose items waited when it was looked last."""
        return await self._notices(
            "NOT is_over AND platform = ? AND chat = ? ORDER BY number LIMIT 1000", (platform, chat)
        )

    async def end(self, notice: Notice) -> None:
        """Note that an item waits no more."""
        await self._database.write("UPDATE notices SET is_over = 1 WHERE number = ?", (notice.number,))

    async def _notices(self, condition: str, parameters: tuple[object, ...]) -> list[Notice]:
        rows = await self._database.rows(
            f"SELECT number, platform, chat, item, hash, text, choices, is_over FROM notices WHERE {condition}",  # noqa: S608 - fixed
            parameters,
        )
        return [
            Notice(
                number,
                platform,
                chat,
                item,
                digest,
                text,
                tuple(Choice(*each) for each in json.loads(choices)),
                bool(over),
            )
            for number, platform, chat, item, digest, text, choices, over in rows
        ]
