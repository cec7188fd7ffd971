"""Rows of sessions and their words."""

import json
import re
import sqlite3
import unicodedata
from collections.abc import Callable, Iterable

from aiosqlite import Connection

from parachute.database import Database
from parachute.sessions.models import COLUMNS, Session

IDLE_PAGE = 1000

_INSERT = (
    f"INSERT INTO sessions ({', '.join(COLUMNS)}, summary) "  # noqa: S608 - names of our own fields
    f"VALUES ({', '.join(':' + name for name in COLUMNS)}, :summary)"
)
_UPDATE = (
    f"UPDATE sessions SET {', '.join(f'{name} = :{name}' for name in COLUMNS)}, summary = :summary "  # noqa: S608
    "WHERE id = :id"
)
_SELECT = f"SELECT {', '.join(COLUMNS)} FROM sessions WHERE id = ?"  # noqa: S608


class SessionStore:
    """Reads and writes `sessions.db`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def insert(self, session: Session) -> None:
        """Add a row; error: sqlite3.IntegrityError if the id is taken."""
        async with self._database.transaction() as connection:
            await connection.execute(_INSERT, _row(session))
            await self._index(connection, session.id, [("title", session.title or "")])
        session.remember()

    async def update(
        self, session: str, change: Callable[[Session], None], texts: Iterable[tuple[str, str]] = ()
    ) -> Session | None:
        """Read, change and write a row in one transaction; the row as it is then, None if there is none any more.

        `texts` are further (kind, text) pairs for the index: each transaction is a wait for the disk.
        """
        async with self._database.transaction() as connection:
            rows = list(await connection.execute_fetchall(_SELECT, (session,)))
            if not rows:
                return None
            found = _session(rows[0])
            change(found)
            await connection.execute(_UPDATE, _row(found))
            await self._index(connection, session, texts)
        return found.remember()

    async def get(self, session: str) -> Session | None:
        """One session."""
        row = await self._database.row(_SELECT, (session,))
        return _session(row) if row else None

    async def summaries(
        self, *, limit: int, offset: int, archived: bool, search: str | None, workspace: str | None
    ) -> list[str]:
        """Projections of the sessions that fit, the newest first; with `search`, those whose title or messages match."""
        conditions = ["archived = ?"]
        parameters: list[object] = [archived]
        if workspace is not None:
            conditions.append("workspace_id = ?")
            parameters.append(workspace)
        if search is not None:
            conditions.append("id IN (SELECT session FROM words WHERE words MATCH ?)")
            parameters.append(match_expression(search))
        rows = await self._database.rows(
            f"SELECT summary FROM sessions WHERE {' AND '.join(conditions)} "  # noqa: S608 - fixed conditions
            "ORDER BY updated_at DESC LIMIT ? OFFSET ?",
            (*parameters, limit, offset),
        )
        return [summary for (summary,) in rows]

    async def workspaces(self) -> set[str]:
        """Every workspace that a session names."""
        query = "SELECT DISTINCT workspace_id FROM sessions WHERE workspace_id IS NOT NULL"
        return {slug for (slug,) in await self._database.rows(query)}

    async def delete(self, session: str) -> bool:
        """Remove a session and its words."""
        async with self._database.transaction() as connection:
            await self._forget(connection, session)
            cursor = await connection.execute("DELETE FROM sessions WHERE id = ?", (session,))
            return cursor.rowcount > 0

    async def clear_words(self) -> None:
        """Empty the index; rows that were lost one by one would be counted as those of other sessions."""
        async with self._database.transaction() as connection:
            await connection.execute("DELETE FROM words")
            await connection.execute("DELETE FROM words_of_session")

    async def replace_words(self, session: str, texts: Iterable[tuple[str, str]]) -> None:
        """Index (kind, text) pairs of a session anew; a session that was deleted meanwhile stays deleted."""
        async with self._database.transaction() as connection:
            await self._forget(connection, session)
            if await connection.execute_fetchall("SELECT 1 FROM sessions WHERE id = ?", (session,)):
                await self._index(connection, session, texts)

    async def words(self, session: str) -> list[tuple[str, str]]:
        """The indexed (kind, text) pairs of a session, in the order in which they were added."""
        rows = await self._database.rows(
            "SELECT kind, body FROM words WHERE rowid IN "
            "(SELECT word_row FROM words_of_session WHERE session = ?) ORDER BY rowid",
            (session,),
        )
        return [(kind, body) for kind, body in rows]

    async def with_level(self, level: str) -> list[Session]:
        """All sessions whose row says this trust level."""
        rows = await self._database.rows(
            f"SELECT {', '.join(COLUMNS)} FROM sessions WHERE trust_level = ?",  # noqa: S608
            (level,),
        )
        return [_session(row) for row in rows]

    async def idle_since_mark(self, until: str) -> list[Session]:
        """Sessions whose last change lies behind the mark and not after `until`, the oldest first; IDLE_PAGE at the most."""
        rows = await self._database.rows(
            f"SELECT {', '.join(COLUMNS)} FROM sessions WHERE updated_at <= ? AND updated_at > "  # noqa: S608
            "COALESCE((SELECT value FROM marks WHERE name = 'session.end'), ?) ORDER BY updated_at LIMIT ?",
            (until, until, IDLE_PAGE),
        )
        return [_session(row) for row in rows]

    async def set_mark(self, until: str) -> None:
        """Remember how far the look for ended sessions has come."""
        await self._database.write("INSERT OR REPLACE INTO marks VALUES ('session.end', ?)", (until,))

    async def count(self) -> int:
        """How many sessions there are."""
        row = await self._database.row("SELECT COUNT(*) FROM sessions")
        return int(row[0]) if row else 0

    async def ids(self) -> list[str]:
        """The ids of all sessions."""
        return [session for (session,) in await self._database.rows("SELECT id FROM sessions")]

    async def _index(self, connection: Connection, session: str, texts: Iterable[tuple[str, str]]) -> None:
        for kind, text in texts:
            if text:
                # An agent may write halves of characters, which no encoding has.
                body = text.encode(errors="replace").decode()
                cursor = await connection.execute(
                    "INSERT INTO words (session, kind, body) VALUES (?, ?, ?)", (session, kind, body)
                )
                await connection.execute("INSERT INTO words_of_session VALUES (?, ?)", (session, cursor.lastrowid))

    async def _forget(self, connection: Connection, session: str) -> None:
        await connection.execute(
            "DELETE FROM words WHERE rowid IN (SELECT word_row FROM words_of_session WHERE session = ?)", (session,)
        )
        await connection.execute("DELETE FROM words_of_session WHERE session = ?", (session,))


def match_expression(search: str) -> str:
    """A full-text query for the words of a search, all of them required, the last one as the beginning of a word."""
    words = re.findall(r"\w+", unicodedata.normalize("NFC", search))[:20]
    return " ".join(f'"{word}"' for word in words) + "*" if words else '""'


def _row(session: Session) -> dict[str, object]:
    row: dict[str, object] = session.columns()
    row["metadata"] = json.dumps(session.metadata, ensure_ascii=False)
    row["archived"] = int(session.archived)
    row["summary"] = session.summary()
    return row


def _session(row: sqlite3.Row) -> Session:
    values = dict(zip(COLUMNS, row, strict=True))
    values["metadata"] = json.loads(values["metadata"])
    values["archived"] = bool(values["archived"])
    return Session(**values).remember()
