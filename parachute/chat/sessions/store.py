"""Rows of sessions."""

import json
import sqlite3
from collections.abc import Callable, Iterable
from typing import Any

from parachute.base.database import Database
from parachute.base.messengers import MESSENGERS
from parachute.chat.sessions import endings
from parachute.chat.sessions.families import Families, Member, with_versions
from parachute.chat.sessions.indexed_words import FITTING, IndexedWords, forget, index, match_expression
from parachute.chat.sessions.models import COLUMNS, Session, SessionPlace

_INSERT = (
    f"INSERT INTO sessions ({', '.join(COLUMNS)}, summary) "  # noqa: S608 - names of our own fields
    f"VALUES ({', '.join(':' + name for name in COLUMNS)}, :summary)"
)
_INSERT_NEW = _INSERT.replace("INSERT", "INSERT OR IGNORE", 1)
_UPDATE = (
    f"UPDATE sessions SET {', '.join(f'{name} = :{name}' for name in COLUMNS if name != 'id')}, summary = :summary "  # noqa: S608
    "WHERE id = :id"
)
_MEMBERS = (
    "WITH branches AS (SELECT id, json_extract(metadata, '$.branch.family') AS family FROM sessions "
    "WHERE instr(metadata, '\"branch\"') > 0), "
    "members AS (SELECT * FROM branches UNION ALL SELECT DISTINCT family, family FROM branches) "
    "SELECT sessions.id, family, archived, pinned, workspace_id FROM members "
    "JOIN sessions ON sessions.id = members.id ORDER BY updated_at DESC, sessions.rowid DESC"
)
_SELECT = f"SELECT {', '.join(COLUMNS)} FROM sessions WHERE id = ?"  # noqa: S608


class SessionStore:
    """Reads and writes the rows in `sessions.db`; `words` is the index beside them."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self.words = IndexedWords(database)

    async def insert(self, session: Session) -> None:
        """Add a row; error: sqlite3.IntegrityError if the id is taken."""
        async with self._database.transaction() as connection:
            await connection.execute(_INSERT, _row(session))
            await index(connection, session.id, [("title", session.title or "")])
        session.remember()

    async def insert_imported(self, sessions: Iterable[tuple[Session, Iterable[tuple[str, str]]]]) -> list[str]:
        """Add rows with their texts, all or none of them; the ids of those that were not there. Their end is nothing to be told."""
        added = []
        async with self._database.transaction() as connection:
            for session, texts in sessions:
                cursor = await connection.execute(_INSERT_NEW, _row(session))
                if cursor.rowcount:
                    added.append(session.id)
                    await index(connection, session.id, [("title", session.title or ""), *texts])
                    await endings.mark_published(connection, session.id)
        return added

    async def imported(self, import_id: str) -> list[Session]:
        """The sessions that an import has brought, and that are still here."""
        rows = await self._database.rows(
            f"SELECT {', '.join(COLUMNS)} FROM sessions WHERE json_extract(metadata, '$.import.id') = ?",  # noqa: S608
            (import_id,),
        )
        return [_session(row) for row in rows]

    async def fingerprints(self) -> dict[str, str]:
        """The fingerprints of what imports brought, by the ids of the sessions."""
        query = (
            "SELECT id, json_extract(metadata, '$.import.fingerprint') AS found FROM sessions WHERE found IS NOT NULL"
        )
        return {session: str(found) for session, found in await self._database.rows(query)}

    async def family(self, family: str, limit: int) -> list[Session]:
        """The sessions of a family of branches, the newest first."""
        rows = await self._database.rows(
            f"SELECT {', '.join(COLUMNS)} FROM sessions WHERE id IN (SELECT :family UNION ALL SELECT id FROM sessions "  # noqa: S608
            "WHERE instr(metadata, '\"branch\"') > 0 AND json_extract(metadata, '$.branch.family') = :family) "
            "ORDER BY updated_at DESC LIMIT :limit",
            {"family": family, "limit": limit},
        )
        return [_session(row) for row in rows]

    async def families(self) -> Families:
        """All families of branches."""
        rows = await self._database.rows(_MEMBERS)
        return Families(
            Member(session, family, archived=bool(archived), pinned=bool(pinned), workspace=workspace)
            for session, family, archived, pinned, workspace in rows
            if isinstance(family, str)
        )

    async def update(
        self,
        session: str,
        change: Callable[[Session], None],
        texts: Iterable[tuple[str, str]] = (),
        *,
        closes: bool | None = None,
    ) -> Session | None:
        """Read, change and write a row in one transaction; the row as it is then, None if there is none any more.

        `texts` are further (kind, text) pairs for the index: each transaction is a wait for the disk. `closes` says whether the
        session ends with this change, or goes on.
        """
        async with self._database.transaction() as connection:
            rows = list(await connection.execute_fetchall(_SELECT, (session,)))
            if not rows:
                return None
            found = _session(rows[0])
            change(found)
            await connection.execute(_UPDATE, _row(found))
            await index(connection, session, texts)
            if closes is not None:
                await (endings.close if closes else endings.reopen)(connection, session)
        return found.remember()

    async def get(self, session: str) -> Session | None:
        """One session."""
        row = await self._database.row(_SELECT, (session,))
        return _session(row) if row else None

    async def summaries(
        self,
        *,
        limit: int,
        offset: int,
        archived: bool,
        search: str | None,
        workspace: str | None,
        pinned: bool = False,
        passages: bool = False,
        families: Families | None = None,
    ) -> list[str]:
        """Projections of the sessions that fit, the newest first; with `search`, those whose title or messages match.

        `pinned` leaves out what is not pinned, without a search; `passages` adds where the words are to the first 50 found.
        Of each of the `families` one is listed: the newest, or the one in which a search has found the newest text.
        """
        if search is not None:
            return await self.words.found(
                match_expression(search), limit, offset, archived, workspace, passages, families
            )
        older = families.older(archived=archived, workspace=workspace, pinned=pinned) if families else {}
        left_out = [session for sessions in older.values() for session in sessions]
        fitting = {"archived": archived, "workspace": workspace, "left_out": json.dumps(left_out)}
        if pinned:
            page = await self._page("DESC", limit, offset, fitting, pinned=True)
        elif workspace is None and offset > (total := await self.count_of(archived=archived) - len(left_out)) // 2:
            # From the end that is nearer: what is skipped is read, too.
            limit = min(limit, total - offset)
            page = (await self._page("ASC, rowid DESC", max(limit, 0), total - offset - limit, fitting))[::-1]
        else:
            page = await self._page("DESC, rowid ASC", limit, offset, fitting)
        return with_versions(page, older)

    async def _page(
        self, order: str, limit: int, offset: int, fitting: dict[str, Any], *, pinned: bool = False
    ) -> list[str]:
        within = "" if fitting["workspace"] is None else "AND workspace_id = :workspace "
        without = "" if fitting["left_out"] == "[]" else "AND id NOT IN (SELECT value FROM json_each(:left_out)) "
        place, on_top = ("INDEXED BY sessions_pinned ", "pinned AND ") if pinned else ("", "")
        rows = await self._database.rows(
            f"SELECT summary FROM sessions {place}WHERE {on_top}archived = :archived {within}{without}"  # noqa: S608
            f"ORDER BY updated_at {order} LIMIT :limit OFFSET :offset",
            {"limit": limit, "offset": offset, **fitting},
        )
        return [summary for (summary,) in rows]

    async def workspaces(self) -> set[str]:
        """Every workspace that a session names."""
        query = "SELECT DISTINCT workspace_id FROM sessions WHERE workspace_id IS NOT NULL"
        return {slug for (slug,) in await self._database.rows(query)}

    async def delete(self, session: str) -> bool:
        """Remove a session and its words, these first and in batches."""
        await self.words.forget(session)
        async with self._database.transaction() as connection:
            await forget(connection, session)
            await endings.delete(connection, session)
            cursor = await connection.execute("DELETE FROM sessions WHERE id = ?", (session,))
            return cursor.rowcount > 0

    async def with_level(self, level: str) -> list[Session]:
        """All sessions whose row says this trust level."""
        rows = await self._database.rows(
            f"SELECT {', '.join(COLUMNS)} FROM sessions WHERE trust_level = ?",  # noqa: S608
            (level,),
        )
        return [_session(row) for row in rows]

    async def places(self) -> dict[str, tuple[SessionPlace, str | None]]:
        """Return folder and workspace that the rows of all sessions name."""
        query = (
            "SELECT id, working_directory, source, linked_bot_platform, workspace_id FROM sessions "
            "WHERE working_directory IS NOT NULL OR workspace_id IS NOT NULL OR source != 'parachute' "
            "OR linked_bot_platform IS NOT NULL"
        )
        return {
            session: (SessionPlace(folder, platform or (source if source in MESSENGERS else None)), workspace)
            for session, folder, source, platform, workspace in await self._database.rows(query)
        }

    async def linked(self, platform: str, chat: str, limit: int = 20) -> list[Session]:
        """The newest sessions of a chat of a messenger, also those put away."""
        rows = await self._database.rows(
            f"SELECT {', '.join(COLUMNS)} FROM sessions WHERE linked_bot_platform = ? AND linked_bot_chat_id = ? "  # noqa: S608
            "ORDER BY updated_at DESC LIMIT ?",
            (platform, chat, limit),
        )
        return [_session(row) for row in rows]

    async def is_rebuilt(self) -> bool:
        """Return True if the list is complete, as far as transcripts can say."""
        return await self._database.row("SELECT 1 FROM marks WHERE name = 'rebuilding'") is None

    async def set_rebuilt(self, rebuilt: bool) -> None:
        """Remember that the list is complete, or that it has to be made from the transcripts."""
        if rebuilt:
            await self._database.write("DELETE FROM marks WHERE name = 'rebuilding'")
        else:
            await self._database.write("INSERT OR REPLACE INTO marks VALUES ('rebuilding', '')")

    async def count(self) -> int:
        """Number of sessions."""
        row = await self._database.row("SELECT sum(sessions) FROM counts")
        return int(row[0]) if row else 0

    async def count_of(self, *, archived: bool) -> int:
        """Number of sessions that are archived, or of the others."""
        row = await self._database.row("SELECT sessions FROM counts WHERE archived = ?", (archived,))
        return int(row[0]) if row else 0

    async def ids(self) -> list[str]:
        """The ids of all sessions, the one that changed last at the end."""
        return [session for (session,) in await self._database.rows("SELECT id FROM sessions ORDER BY updated_at")]

    async def fitting(self, sessions: list[str], archived: bool, workspace: str | None) -> list[str]:
        """Projections of those of some sessions that fit, in that order."""
        rows = await self._database.rows(FITTING, (json.dumps(sessions), archived, workspace))
        return [summary for _, summary in rows]

    async def meanings(self) -> tuple[str, int]:
        """The name of the index of meanings that sessions were given to, and the number of the newest text that it has."""
        row = await self._database.row("SELECT value FROM marks WHERE name = 'meanings'")
        index, _, last = (row[0] if row else "").partition(" ")
        return index, int(last or 0)

    async def set_meanings(self, index: str, last: int) -> None:
        """Remember what the index of meanings has."""
        await self._database.write("INSERT OR REPLACE INTO marks VALUES ('meanings', ?)", (f"{index} {last}",))


def _row(session: Session) -> dict[str, object]:
    row: dict[str, object] = session.columns()
    row["metadata"] = json.dumps(session.metadata, ensure_ascii=False)
    row["archived"], row["pinned"] = int(session.archived), int(session.pinned)
    row["summary"] = session.summary()
    return row


def _session(row: sqlite3.Row) -> Session:
    values = dict(zip(COLUMNS, row, strict=True))
    values["metadata"] = json.loads(values["metadata"])
    values["archived"], values["pinned"] = bool(values["archived"]), bool(values["pinned"])
    return Session(**values).remember()
