"""Requests in `~/.parachute/messengers.db`: ids, and nothing of what was written."""

import sqlite3
from datetime import timedelta

from parachute.base.clock import SYSTEM, Clock, as_text
from parachute.base.database import Database
from parachute.connectors.chats.models import LinkedChat
from parachute.connectors.chats.store import insert_chat
from parachute.connectors.pairing.models import MOST_WAITING, PairingRequest

_KNOCKS = 3
_KNOCK_HOURS = 24
_MOST_KNOCKS = 10_000


def create_pairing(connection: sqlite3.Connection) -> None:
    """Requests that wait, and when each sender or group has asked."""
    connection.execute(
        "CREATE TABLE pairing_requests (id TEXT PRIMARY KEY, platform TEXT NOT NULL, chat TEXT NOT NULL, kind TEXT NOT NULL, "
        "sender TEXT NOT NULL, name TEXT NOT NULL, title TEXT NOT NULL, code TEXT NOT NULL, session TEXT NOT NULL, "
        "since TEXT NOT NULL, UNIQUE (platform, chat)) STRICT, WITHOUT ROWID"
    )
    connection.execute(
        "CREATE TABLE knocks (number INTEGER PRIMARY KEY, platform TEXT NOT NULL, sender TEXT NOT NULL, at TEXT NOT NULL) STRICT"
    )
    connection.execute("CREATE INDEX knocks_by_sender ON knocks (platform, sender)")


class PairingStore:
    """Requests: made once for each chat, answered once."""

    def __init__(self, database: Database, clock: Clock = SYSTEM) -> None:
        self._database = database
        self._clock = clock

    async def all(self) -> list[PairingRequest]:
        """Every request, the oldest first, also those whose time is over."""
        rows = await self._database.rows("SELECT * FROM pairing_requests ORDER BY since, id LIMIT 100")
        return [PairingRequest(*row) for row in rows]

    async def count(self, kind: str) -> int:
        """Count the requests of a kind."""
        row = await self._database.row("SELECT count(*) FROM pairing_requests WHERE kind = ?", (kind,))
        return int(row[0]) if row else 0

    async def get(self, identifier: str) -> PairingRequest | None:
        """One request, also when its time is over."""
        row = await self._database.row("SELECT * FROM pairing_requests WHERE id = ?", (identifier,))
        return PairingRequest(*row) if row else None

    async def add(self, request: PairingRequest) -> bool:
        """Store a request; False where its chat has one, too many wait, or the sender has asked too often."""
        who = request.sender if request.kind == "private" else request.chat
        now = self._clock.now()
        begin = as_text(now - timedelta(hours=_KNOCK_HOURS))
        async with self._database.transaction() as connection:
            await connection.execute("DELETE FROM knocks WHERE at < ? OR at > ?", (begin, as_text(now)))
            for query, parameters, most in (
                ("SELECT count(*) FROM pairing_requests WHERE kind = ?", (request.kind,), MOST_WAITING),
                ("SELECT count(*) FROM knocks WHERE platform = ? AND sender = ?", (request.platform, who), _KNOCKS),
                ("SELECT count(*) FROM knocks", (), _MOST_KNOCKS),
            ):
                async with connection.execute(query, parameters) as cursor:
                    row = await cursor.fetchone()
                if row is not None and row[0] >= most:
                    return False
            cursor = await connection.execute(
                "INSERT OR IGNORE INTO pairing_requests VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    request.id,
                    request.platform,
                    request.chat,
                    request.kind,
                    request.sender,
                    request.name,
                    request.title,
                    request.code,
                    request.session,
                    request.since,
                ),
            )
            if not cursor.rowcount:
                return False
            await connection.execute(
                "INSERT INTO knocks (platform, sender, at) VALUES (?, ?, ?)", (request.platform, who, request.since)
            )
        return True

    async def move(self, platform: str, chat: str, other: str) -> bool:
        """Give the request of a group another id; False if there is none, or the other one has one."""
        query = "UPDATE OR IGNORE pairing_requests SET chat = ? WHERE platform = ? AND chat = ? AND kind = 'group'"
        return bool(await self._database.write(query, (other, platform, chat)))

    async def approve(self, request: PairingRequest, chat: LinkedChat) -> bool:
        """Let the chat in and end its request, both or none; False if somebody else has answered it."""
        async with self._database.transaction() as connection:
            cursor = await connection.execute("DELETE FROM pairing_requests WHERE id = ?", (request.id,))
            if not cursor.rowcount:
                return False
            await insert_chat(connection, chat)
        return True

    async def remove(self, request: PairingRequest, *, silence: bool = False) -> bool:
        """End a request; with `silence` its sender gets no other one today. False if somebody else has answered it."""
        who = request.sender if request.kind == "private" else request.chat
        async with self._database.transaction() as connection:
            cursor = await connection.execute("DELETE FROM pairing_requests WHERE id = ?", (request.id,))
            if not cursor.rowcount:
                return False
            for _ in range(_KNOCKS if silence else 0):
                await connection.execute(
                    "INSERT INTO knocks (platform, sender, at) VALUES (?, ?, ?)",
                    (request.platform, who, as_text(self._clock.now())),
                )
        return True
