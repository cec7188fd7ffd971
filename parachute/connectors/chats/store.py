"""The chats that were let in, in `~/.parachute/messengers.db`."""

import sqlite3
from collections.abc import Sequence

from aiosqlite import Connection
from msgspec.structs import replace

from parachute.base.database import Database
from parachute.connectors.chats.models import LinkedChat
from parachute.connectors.configuration.models import Platform

_COLUMNS = (
    "platform, chat, kind, sender, title, template, approved_at, approved_by, session, is_prepared, is_owner, earlier"
)

_REPLACING = ", ".join(f"excluded.{column}" for column in _COLUMNS.split(", "))


def create_chats(connection: sqlite3.Connection) -> None:
    """One row for each chat that may talk to a bot."""
    connection.execute(
        "CREATE TABLE chats (platform TEXT NOT NULL, chat TEXT NOT NULL, kind TEXT NOT NULL, sender TEXT NOT NULL, "
        "title TEXT NOT NULL, template TEXT NOT NULL, approved_at TEXT NOT NULL, approved_by TEXT NOT NULL, session TEXT, "
        "is_prepared INTEGER NOT NULL DEFAULT 0, is_owner INTEGER NOT NULL DEFAULT 0, PRIMARY KEY (platform, chat)) "
        "STRICT, WITHOUT ROWID"
    )


def add_earlier_ids(connection: sqlite3.Connection) -> None:
    """Keep the id that a chat had before its platform gave it another one."""
    connection.execute("ALTER TABLE chats ADD COLUMN earlier TEXT NOT NULL DEFAULT ''")
    connection.execute("CREATE INDEX chats_by_earlier ON chats (platform, earlier) WHERE earlier != ''")


async def insert_chat(connection: Connection, chat: LinkedChat) -> None:
    """Let a chat in, inside of a transaction; one that is let in already stays as it is, unless it was a private one."""
    row = (chat.platform, chat.chat, chat.kind, chat.sender, chat.title, chat.template, chat.approved_at)
    await connection.execute(
        f"INSERT INTO chats ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) "  # noqa: S608 - fixed columns
        f"ON CONFLICT (platform, chat) DO UPDATE SET ({_COLUMNS}) = ({_REPLACING}) WHERE chats.kind != excluded.kind",
        (*row, chat.approved_by, chat.session, int(chat.is_prepared), int(chat.is_owner), chat.earlier),
    )


class ChatStore:
    """Rows of chats; few, and asked for with every message."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def all(self) -> list[LinkedChat]:
        """Every chat, by platform and id."""
        return await self._chats("ORDER BY platform, chat LIMIT 10000", ())

    async def get(self, platform: str, chat: str) -> LinkedChat | None:
        """One chat by its id or its earlier one, None if it was not let in."""
        found = await self._chats("WHERE platform = ? AND chat = ?", (platform, chat))
        found = found or await self._chats("WHERE platform = ? AND earlier = ?", (platform, chat))
        return found[0] if found else None

    async def topics(self, chat: LinkedChat) -> list[LinkedChat]:
        """The topics of a group that have a conversation."""
        found = await self._chats("WHERE platform = ? AND chat GLOB ? || '/*'", (chat.platform, chat.chat))
        return [each for each in found if each.group == chat.chat]

    async def move(self, platform: str, chat: str, other: str) -> bool:
        """Note that a group has another id; False if it was not let in, or the other one is."""
        query = "UPDATE OR IGNORE chats SET chat = ?, earlier = ? WHERE platform = ? AND chat = ? AND kind = 'group'"
        return bool(await self._database.write(query, (other, chat, platform, chat)))

    async def of_session(self, session: str) -> LinkedChat | None:
        """The chat of a conversation."""
        found = await self._chats("WHERE session = ?", (session,))
        return found[0] if found else None

    async def add(self, chat: LinkedChat) -> None:
        """Let a chat in, unless it is already."""
        async with self._database.transaction() as connection:
            await insert_chat(connection, chat)

    async def set_session(self, chat: LinkedChat, session: str) -> None:
        """Give a chat another conversation, whose permissions are not set yet."""
        await self._database.write(
            "UPDATE chats SET session = ?1, is_prepared = 0 WHERE platform = ?2 AND (chat = ?3 OR earlier = ?3)",
            (session, chat.platform, chat.chat),
        )

    async def set_prepared(self, chat: LinkedChat, session: str) -> None:
        """Note that the permissions of a chat's conversation are set."""
        await self._database.write(
            "UPDATE chats SET is_prepared = 1 WHERE platform = ?1 AND (chat = ?2 OR earlier = ?2) AND session = ?3",
            (chat.platform, chat.chat, session),
        )

    async def set_owner(self, platform: Platform, chat: str) -> None:
        """Make a chat the owner's own on its platform, and no other one."""
        async with self._database.transaction() as connection:
            await connection.execute("UPDATE chats SET is_owner = 0 WHERE platform = ?", (platform,))
            await connection.execute(
                "UPDATE chats SET is_owner = 1 WHERE platform = ? AND chat = ? AND kind = 'private'", (platform, chat)
            )

    async def remove(self, platform: str, chat: str) -> bool:
        """Let a chat in no longer; False if it was not."""
        return bool(await self._database.write("DELETE FROM chats WHERE platform = ? AND chat = ?", (platform, chat)))

    async def _chats(self, condition: str, parameters: Sequence[object]) -> list[LinkedChat]:
        rows = await self._database.rows(f"SELECT {_COLUMNS} FROM chats {condition}", parameters)  # noqa: S608 - fixed
        return [
            replace(LinkedChat(*row[:9]), is_prepared=bool(row[9]), is_owner=bool(row[10]), earlier=row[11])
            for row in map(tuple, rows)
        ]
