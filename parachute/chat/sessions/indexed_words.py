"""The words of sessions in the full-text index of `sessions.db`."""

import asyncio
import json
import sqlite3
from collections.abc import Iterable, Iterator
from itertools import accumulate

import msgspec
from aiosqlite import Connection

from parachute.base.database import Database
from parachute.base.errors import InvalidInput
from parachute.chat.sessions.families import Families, name_of
from parachute.chat.sessions.migrations import CREATE_WORDS
from parachute.core.full_text import is_run, quoted, readable, searchable, words

_MATCHES = "SELECT rowid, session FROM words WHERE words MATCH ? AND rowid < ? ORDER BY rowid DESC LIMIT ?"
FITTING = (
    "SELECT updated_at, summary FROM json_each(?1) JOIN sessions ON sessions.id = value "
    "WHERE archived = ?2 AND (?3 IS NULL OR workspace_id = ?3) ORDER BY json_each.key"
)
_PASSAGES = "SELECT kind, snippet(words, 2, '', '', '…', 24) FROM words WHERE words MATCH ? AND rowid = ?"
_MOST_PASSAGES = 50
_LAST_ROW = 1 << 62
_FEWEST_ROWS, _MOST_ROWS = 200, 20_000
"""Of the index, in one query; each further one reads four times as many."""

_BATCH, _BATCH_SIZE = 50, 200_000
"""Texts in one transaction, and their characters: others write between two of them."""


class IndexedWords:
    """Reads and writes the index; a row of it is one text of a session."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def found(
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
            fitting = await self._database.rows(FITTING, (json.dumps(new), archived, workspace))
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

    async def clear(self) -> None:
        """Empty the index; rows that were lost one by one would be counted as those of other sessions."""
        async with self._database.transaction() as connection:
            # Taking them out one by one would read every text.
            await connection.execute("DROP TABLE words")
            await connection.execute(CREATE_WORDS)
            await connection.execute("DELETE FROM words_of_session")

    async def replace(self, session: str, texts: Iterable[tuple[str, str]]) -> None:
        """Index (kind, text) pairs of a session anew, in batches; a session that was deleted meanwhile stays deleted."""
        await self.forget(session)
        for batch in _batches(texts):
            async with self._database.transaction() as connection:
                if not await connection.execute_fetchall("SELECT 1 FROM sessions WHERE id = ?", (session,)):
                    return
                await index(connection, session, batch)

    async def replace_title(self, session: str, title: str) -> None:
        """Index another title of a session in the place of what it was called."""
        async with self._database.transaction() as connection:
            query = (
                "SELECT rowid FROM words WHERE kind = 'title' AND rowid IN "
                "(SELECT word_row FROM words_of_session WHERE session = ?)"
            )
            await _drop(connection, session, await connection.execute_fetchall(query, (session,)))
            await index(connection, session, [("title", title)])

    async def forget(self, session: str) -> None:
        """Take all words of a session out of the index, in batches."""
        has_more = True
        while has_more:
            async with self._database.transaction() as connection:
                has_more = await forget(connection, session, _BATCH)

    async def reindex(self) -> bool:
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

    async def of(self, session: str) -> list[tuple[str, str]]:
        """The indexed (kind, text) pairs of a session, in the order in which they were added."""
        rows = await self._database.rows(
            "SELECT kind, body FROM words WHERE rowid IN "
            "(SELECT word_row FROM words_of_session WHERE session = ?) ORDER BY rowid",
            (session,),
        )
        return [(kind, readable(body)) for kind, body in rows]

    async def last_said(self) -> int:
        """The number of the newest text in the search index."""
        row = await self._database.row("SELECT max(rowid) FROM words")
        return int(row[0] or 0) if row else 0

    async def said_since(self, number: int) -> list[str]:
        """The ids of sessions with newer texts than that."""
        query = "SELECT DISTINCT session FROM words WHERE rowid > ?"
        return [session for (session,) in await self._database.rows(query, (number,))]


async def index(connection: Connection, session: str, texts: Iterable[tuple[str, str]]) -> None:
    """Add (kind, text) pairs of a session."""
    rows = list(await connection.execute_fetchall("SELECT rowid FROM words ORDER BY rowid DESC LIMIT 1"))
    last = rows[0][0] if rows else 0
    # An agent may write halves of characters, which no encoding has.
    new = [
        (number, session, kind, searchable(text.encode(errors="replace").decode()))
        for number, (kind, text) in enumerate(((kind, text) for kind, text in texts if text), last + 1)
    ]
    await connection.executemany("INSERT INTO words (rowid, session, kind, body) VALUES (?, ?, ?, ?)", new)
    await connection.executemany("INSERT INTO words_of_session VALUES (?, ?)", [(row[1], row[0]) for row in new])


async def forget(connection: Connection, session: str, limit: int = -1) -> bool:
    """Take words of a session out of the index, `limit` texts at the most; whether there may be more."""
    query = "SELECT word_row FROM words_of_session WHERE session = ? ORDER BY word_row LIMIT ?"
    rows = list(await connection.execute_fetchall(query, (session, limit)))
    await _drop(connection, session, rows)
    return len(rows) == limit


async def _drop(connection: Connection, session: str, rows: Iterable[sqlite3.Row]) -> None:
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
