"""Rows of sessions and their words."""

import asyncio
import json
import sqlite3
from collections.abc import Callable, Iterable, Iterator
from itertools import accumulate
from typing import Any

import msgspec
from aiosqlite import Connection

from parachute.base.database import Database
from parachute.base.errors import InvalidInput
from parachute.base.messengers import MESSENGERS
from parachute.chat.sessions import endings
from parachute.chat.sessions.families import Families, Member, name_of, with_versions
from parachute.chat.sessions.migrations import CREATE_WORDS
from parachute.chat.sessions.models import COLUMNS, Session, SessionPlace
from parachute.core.full_text import is_run, quoted, readable, searchable, words

_INSERT = (
    f"INSERT INTO sessions ({', '.join(COLUMNS)}, summary) "  # noqa: S608 - names of our own fields
    f"VALUES ({', '.join(':' + name for name in COLUMNS)}, :summary)"
)
_INSERT_NEW = _INSERT.replace("INSERT", "INSERT OR IGNORE", 1)
_UPDATE = (
    f"UPDATE sessions SET {', '.join(f'{name} = :{name}' for name in COLUMNS if name != 'id')}, summary = :summary "  # noqa: S608
    "WHERE id = :id"
)
_MATCHES = "SELECT rowid, session FROM words WHERE words MATCH ? AND rowid < ? ORDER BY rowid DESC LIMIT ?"
_FITTING = (
    "SELECT updated_at, summary FROM json_each(?1) JOIN sessions ON sessions.id = value "
    "WHERE archived = ?2 AND (?3 IS NULL OR workspace_id = ?3) ORDER BY json_each.key"
)
_MEMBERS = (
    "WITH branches AS (SELECT id, json_extract(metadata, '$.branch.family') AS family FROM sessions "
    "WHERE instr(metadata, '\"branch\"') > 0), "
    "members AS (SELECT * FROM branches UNION ALL SELECT DISTINCT family, family FROM branches) "
    "SELECT sessions.id, family, archived, pinned, workspace_id FROM members "
    "JOIN sessions ON sessions.id = members.id ORDER BY updated_at DESC, sessions.rowid DESC"
)
_PASSAGES = "SELECT kind, snippet(words, 2, '', '', '…', 24) FROM words WHERE words MATCH ? AND rowid = ?"
_MOST_PASSAGES = 50
_LAST_ROW = 1 << 62
_FEWEST_ROWS, _MOST_ROWS = 200, 20_000
"""Of the index, in one query; each further one reads four times as many."""

_BATCH, _BATCH_SIZE = 50, 200_000
"""Texts in one transaction, and their characters: others write between two of them."""

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

    async def insert_imported(self, sessions: Iterable[tuple[Session, Iterable[tuple[str, str]]]]) -> list[str]:
        """Add rows with their texts, all or none of them; the ids of those that were not there. Their end is nothing to be told."""
        added = []
        async with self._database.transaction() as connection:
            for session, texts in sessions:
                cursor = await connection.execute(_INSERT_NEW, _row(session))
                if cursor.rowcount:
                    added.append(session.id)
                    await self._index(connection, session.id, [("title", session.title or ""), *texts])
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
            await self._index(connection, session, texts)
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
            return await self._found(match_expression(search), limit, offset, archived, workspace, passages, families)
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

    async def _found(
        self,
        expression: str,
        limit: int,
        offset: int,
        archived: bool,
        workspace: str | None,
        passages: bool,
        families: Families | None,
    ) -> list[str]:
        """Projections of the sessions with the newest texts that match, read from the newest text on until there are enough."""
        looked_at, known = set[str](), set[str]()
        places: dict[str, list[int]] = {}
        found: list[tuple[str, str]] = []
        # Some are archived: a second query begins anew to put together whatever begins with a word.
        before, size = _LAST_ROW, max(_FEWEST_ROWS, (offset + limit) * 5 // 4)
        while len(found) < offset + limit:
            rows = await self._database.rows(_MATCHES, (expression, before, size))
            new = [session for session in dict.fromkeys(session for _, session in rows) if session not in looked_at]
            looked_at.update(new)
            if passages:
                for number, session in rows:
                    places.setdefault(session, []).append(number)
            fitting = await self._database.rows(_FITTING, (json.dumps(new), archived, workspace))
            for updated_at, summary in fitting:
                if families is not None:
                    family = families.family(name_of(summary))
                    if family in known:
                        continue
                    known.add(family)
                found.append((updated_at, summary))
            if len(rows) < size:
                break
            before, size = rows[-1][0], min(size * 4, _MOST_ROWS)
        page = [summary for _, summary in sorted(found[offset : offset + limit], key=_updated_at, reverse=True)]
        return await self._with_passages(expression, page, places) if passages else page

    async def _with_passages(self, expression: str, page: list[str], places: dict[str, list[int]]) -> list[str]:
        """Add to the first projections where the words are; the title is no place, since it is shown."""
        shown = []
        for summary in page[:_MOST_PASSAGES]:
            passage = None
            for number in places.get(name_of(summary), [])[:2]:
                row = await self._database.row(_PASSAGES, (expression, number))
                if row is not None and row[0] != "title":
                    passage = readable(row[1])
                    break
            shown.append(
                summary if passage is None else f'{summary[:-1]},"passage":{msgspec.json.encode(passage).decode()}}}'
            )
        return shown + page[_MOST_PASSAGES:]

    async def workspaces(self) -> set[str]:
        """Every workspace that a session names."""
        query = "SELECT DISTINCT workspace_id FROM sessions WHERE workspace_id IS NOT NULL"
        return {slug for (slug,) in await self._database.rows(query)}

    async def delete(self, session: str) -> bool:
        """Remove a session and its words, these first and in batches."""
        while await self._forget_some(session):
            pass
        async with self._database.transaction() as connection:
            await self._forget(connection, session)
            await endings.delete(connection, session)
            cursor = await connection.execute("DELETE FROM sessions WHERE id = ?", (session,))
            return cursor.rowcount > 0

    async def clear_words(self) -> None:
        """Empty the index; rows that were lost one by one would be counted as those of other sessions."""
        async with self._database.transaction() as connection:
            # Taking them out one by one would read every text.
            await connection.execute("DROP TABLE words")
            await connection.execute(CREATE_WORDS)
            await connection.execute("DELETE FROM words_of_session")

    async def replace_words(self, session: str, texts: Iterable[tuple[str, str]]) -> None:
        """Index (kind, text) pairs of a session anew, in batches; a session that was deleted meanwhile stays deleted."""
        while await self._forget_some(session):
            pass
        for batch in _batches(texts):
            async with self._database.transaction() as connection:
                if not await connection.execute_fetchall("SELECT 1 FROM sessions WHERE id = ?", (session,)):
                    return
                await self._index(connection, session, batch)

    async def replace_title(self, session: str, title: str) -> None:
        """Index another title of a session in the place of what it was called."""
        async with self._database.transaction() as connection:
            query = (
                "SELECT rowid FROM words WHERE kind = 'title' AND rowid IN "
                "(SELECT word_row FROM words_of_session WHERE session = ?)"
            )
            await self._drop(connection, session, await connection.execute_fetchall(query, (session,)))
            await self._index(connection, session, [("title", title)])

    async def _forget_some(self, session: str) -> bool:
        async with self._database.transaction() as connection:
            return await self._forget(connection, session, _BATCH)

    async def reindex_words(self) -> bool:
        """Store some texts of an older index as it stores them now; whether there may be more."""
        row = await self._database.row("SELECT value FROM marks WHERE name = 'divided'")
        if row is None:
            return False
        query = "SELECT rowid, body FROM words WHERE rowid < ? ORDER BY rowid DESC LIMIT ?"
        async with self._database.transaction() as connection:
            rows = list(await connection.execute_fetchall(query, (int(row[0]), _BATCH)))
            # Others wait meanwhile, and very long texts take seconds.
            sizes = accumulate(len(body) for _, body in rows)
            rows = [each for each, size in zip(rows, sizes, strict=True) if each is rows[0] or size <= _BATCH_SIZE]
            new = await asyncio.to_thread(lambda: [(searchable(readable(body)), number) for number, body in rows])
            changed = [pair for pair, (_, body) in zip(new, rows, strict=True) if pair[0] != body]
            await connection.executemany("UPDATE words SET body = ? WHERE rowid = ?", changed)
            if rows:
                await connection.execute("UPDATE marks SET value = ? WHERE name = 'divided'", (rows[-1][0],))
            else:
                await connection.execute("DELETE FROM marks WHERE name = 'divided'")
        return bool(rows)

    async def words(self, session: str) -> list[tuple[str, str]]:
        """The indexed (kind, text) pairs of a session, in the order in which they were added."""
        rows = await self._database.rows(
            "SELECT kind, body FROM words WHERE rowid IN "
            "(SELECT word_row FROM words_of_session WHERE session = ?) ORDER BY rowid",
            (session,),
        )
        return [(kind, readable(body)) for kind, body in rows]

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

    async def last_said(self) -> int:
        """The number of the newest text in the search index."""
        row = await self._database.row("SELECT max(rowid) FROM words")
        return int(row[0] or 0) if row else 0

    async def said_since(self, number: int) -> list[str]:
        """The ids of sessions with newer texts than that."""
        query = "SELECT DISTINCT session FROM words WHERE rowid > ?"
        return [session for (session,) in await self._database.rows(query, (number,))]

    async def fitting(self, sessions: list[str], archived: bool, workspace: str | None) -> list[str]:
        """Projections of those of some sessions that fit, in that order."""
        rows = await self._database.rows(_FITTING, (json.dumps(sessions), archived, workspace))
        return [summary for _, summary in rows]

    async def meanings(self) -> tuple[str, int]:
        """The name of the index of meanings that sessions were given to, and the number of the newest text that it has."""
        row = await self._database.row("SELECT value FROM marks WHERE name = 'meanings'")
        index, _, last = (row[0] if row else "").partition(" ")
        return index, int(last or 0)

    async def set_meanings(self, index: str, last: int) -> None:
        """Remember what the index of meanings has."""
        await self._database.write("INSERT OR REPLACE INTO marks VALUES ('meanings', ?)", (f"{index} {last}",))

    async def _index(self, connection: Connection, session: str, texts: Iterable[tuple[str, str]]) -> None:
        rows = list(await connection.execute_fetchall("SELECT rowid FROM words ORDER BY rowid DESC LIMIT 1"))
        last = rows[0][0] if rows else 0
        # An agent may write halves of characters, which no encoding has.
        new = [
            (number, session, kind, searchable(text.encode(errors="replace").decode()))
            for number, (kind, text) in enumerate(((kind, text) for kind, text in texts if text), last + 1)
        ]
        await connection.executemany("INSERT INTO words (rowid, session, kind, body) VALUES (?, ?, ?, ?)", new)
        await connection.executemany("INSERT INTO words_of_session VALUES (?, ?)", [(row[1], row[0]) for row in new])

    async def _forget(self, connection: Connection, session: str, limit: int = -1) -> bool:
        """Take words of a session out of the index, `limit` texts at the most; whether there may be more."""
        query = "SELECT word_row FROM words_of_session WHERE session = ? ORDER BY word_row LIMIT ?"
        rows = list(await connection.execute_fetchall(query, (session, limit)))
        await self._drop(connection, session, rows)
        return len(rows) == limit

    async def _drop(self, connection: Connection, session: str, rows: Iterable[sqlite3.Row]) -> None:
        numbers = [tuple(row) for row in rows]
        await connection.executemany("DELETE FROM words WHERE rowid = ?", numbers)
        await connection.executemany(
            "DELETE FROM words_of_session WHERE session = ? AND word_row = ?", [(session, *row) for row in numbers]
        )


def match_expression(search: str) -> str:
    """A full-text query for the words of a search, all of them required, the last one as the beginning of a word.

    Error: InvalidInput for a single letter, which half of all words begin with; a sign that is a word by itself is one.
    """
    asked = [word for word in words(search) if quoted(word)][:20]
    if len(asked) == 1 and len(asked[0]) == 1 and not is_run(asked[0]):
        raise InvalidInput(f"search: {asked[0]!r} is one letter.", "Write at least two.", key="search_too_short")
    # The index does not know where in a text a word stands.
    last = len(asked) - 1
    each = [quoted(word, is_unfinished=place == last, phrases=False) for place, word in enumerate(asked)]
    return " AND ".join(each) or '""'


def _batches(texts: Iterable[tuple[str, str]]) -> Iterator[list[tuple[str, str]]]:
    batch, size = list[tuple[str, str]](), 0
    for kind, text in texts:
        batch.append((kind, text))
        size += len(text)
        if len(batch) >= _BATCH or size >= _BATCH_SIZE:
            yield batch
            batch, size = [], 0
    yield batch


def _updated_at(found: tuple[str, str]) -> str:
    return found[0]


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
