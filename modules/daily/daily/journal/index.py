"""The search index: made from the files, and made again from them whenever it is gone."""

import datetime
import json
import sqlite3
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from daily.days.day import Entry
from daily.journal import labelled
from daily.journal.database import Database
from daily.journal.labels import ANY, Kind, Label, Only
from parachute.core import InvalidInput
from parachute.core.full_text import alternatives, quoted, readable, words
from parachute.core.meaning import Queue
from parachute.core.nearness import Work
from parachute.core.stopwords import keywords

# The number of an entry is its place in time, so that the newest ones are found without sorting.
_FILES_A_DAY = 8
_ENTRIES_A_FILE = 1 << 20
_DAY = _FILES_A_DAY * _ENTRIES_A_FILE


_SCHEMA = f"""
CREATE TABLE IF NOT EXISTS files (
    path TEXT PRIMARY KEY, date TEXT NOT NULL, modified INTEGER NOT NULL, size INTEGER NOT NULL, problem TEXT
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS entries (
    number INTEGER PRIMARY KEY, key TEXT NOT NULL, date TEXT NOT NULL, path TEXT NOT NULL,
    title TEXT NOT NULL, content TEXT NOT NULL, fields TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS entries_by_key ON entries (key) WHERE key != '';
CREATE INDEX IF NOT EXISTS entries_by_path ON entries (path);
CREATE VIEW IF NOT EXISTS searched AS
    SELECT number, searchable(title) AS title, searchable(content) AS content FROM entries;
CREATE VIRTUAL TABLE IF NOT EXISTS words USING fts5 (
    title, content, content = 'searched', content_rowid = 'number',
    tokenize = "unicode61 remove_diacritics 2", prefix = '1 2 3'
);
CREATE TABLE IF NOT EXISTS days (number INTEGER PRIMARY KEY, entries INTEGER NOT NULL);
INSERT INTO days SELECT number / {_DAY}, count(*) FROM entries WHERE NOT EXISTS (SELECT 1 FROM days) GROUP BY 1;
CREATE TRIGGER IF NOT EXISTS entries_counted AFTER INSERT ON entries BEGIN
    INSERT INTO days VALUES (new.number / {_DAY}, 1) ON CONFLICT (number) DO UPDATE SET entries = entries + 1;
END;
CREATE TRIGGER IF NOT EXISTS entries_uncounted AFTER DELETE ON entries BEGIN
    UPDATE days SET entries = entries - 1 WHERE number = old.number / {_DAY};
END;
CREATE TRIGGER IF NOT EXISTS entries_added AFTER INSERT ON entries BEGIN
    INSERT INTO words (rowid, title, content) VALUES (new.number, searchable(new.title), searchable(new.content));
END;
CREATE TRIGGER IF NOT EXISTS entries_removed AFTER DELETE ON entries BEGIN
    INSERT INTO words (words, rowid, title, content) VALUES ('delete', old.number, searchable(old.title), searchable(old.content));
END;
"""  # noqa: S608 - a number of our own
LACKING = Queue(
    "entries",
    "number",
    "SELECT number, date || char(10) || title || char(10) || content FROM entries WHERE number = :key AND content != ''",
)
"""Entries that the index of meanings lacks."""
_COLUMNS = "number, key, date, path, title, content, fields"
_OF_ENTRIES = ", ".join(f"entries.{name.strip()}" for name in _COLUMNS.split(","))
_DAY_AT = (
    "SELECT number, later FROM (SELECT number, entries, sum(entries) OVER (ORDER BY number DESC) - entries AS later "
    "FROM days WHERE number >= ? AND number < ?) WHERE ? BETWEEN later AND later + entries - 1"
)
"""The day of the entry at an offset, and how many entries are later than that day."""

_INSERT = f"INSERT INTO entries ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?)"  # noqa: S608
_INSERT_FILE = "INSERT OR REPLACE INTO files (path, date, modified, size, problem) VALUES (?, ?, ?, ?, ?)"
_MOST_WORDS = 20
_COMMON = 2_500
"""Entries with a word that tells none of them apart; ranking more takes long."""


@dataclass(frozen=True, slots=True)
class Found:
    """An entry with the place where it is written; `number` grows with time. `snippet` is there after a search."""

    number: int
    date: str
    path: str
    entry: Entry
    snippet: str | None = None
    by_meaning: bool = False


@dataclass(frozen=True, slots=True)
class Indexed:
    """A file as the index knows it; `modified` in nanoseconds, -1 when it may have changed unseen."""

    path: str
    date: str
    modified: int
    size: int
    problem: str | None = None
    labels: tuple[Label, ...] = ()
    """Labels that the file gives to all of its entries."""


class Index:
    """The database; each call is done in a thread of its own."""

    def __init__(self, path: Path) -> None:
        self._database = Database(path, _SCHEMA + labelled.SCHEMA + LACKING.schema, disposable=True)
        self.changed: Callable[[], None] = lambda: None
        """Called after each change, in some thread."""

    def close(self) -> None:
        """Close the file."""
        self._database.close()

    async def run(self, work: Work) -> Any:
        """Do something with the database."""
        return await self._database.run(work)

    async def files(self, paths: Sequence[str] | None = None) -> dict[str, Indexed]:
        """Files that it knows, by path: all, or those of the paths."""
        query = "SELECT path, date, modified, size, problem FROM files"
        values = () if paths is None else (json.dumps(paths),)
        query += " ORDER BY path" if paths is None else " WHERE path IN (SELECT value FROM json_each(?))"
        rows = await self._database.run(lambda connection: connection.execute(query, values).fetchall())
        return {row[0]: Indexed(*row) for row in rows}

    async def is_new(self) -> bool:
        """True until `complete` is called: not all files were read yet."""
        query = "PRAGMA user_version"
        return not await self._database.run(lambda connection: connection.execute(query).fetchone()[0])

    async def complete(self) -> None:
        """Record that all files were read."""
        await self._database.run(lambda connection: connection.execute("PRAGMA user_version = 1"))

    async def put(self, changes: Sequence[tuple[Indexed, Sequence[Entry]]], gone: Sequence[str] = ()) -> list[str]:
        """Take over what files say now, and forget those that are gone; the keys of entries whose text is another one."""

        def work(connection: sqlite3.Connection) -> list[str]:
            for path in gone:
                connection.execute("DELETE FROM entries WHERE path = ?", (path,))
                connection.execute("DELETE FROM files WHERE path = ?", (path,))
            return [key for file, entries in changes for key in _put(connection, file, entries)]

        found = await self._database.run(work)
        self.changed()
        return found

    async def put_some(self, file: Indexed, entries: Mapping[int, Entry], gone: Sequence[int]) -> None:
        """Take over some entries of a file, by their places in it; the others are as the index has them."""

        def work(connection: sqlite3.Connection) -> None:
            start = _start(connection, file)
            if start is None:
                return
            old = [(start + place,) for place in (*entries, *gone)]
            connection.executemany("DELETE FROM entries WHERE number = ?", old)
            rows = [(start + place, *_row(file, entry)) for place, entry in entries.items()]
            connection.executemany(_INSERT, rows)
            labelled.put(connection, ((start + place, entry) for place, entry in entries.items()), file.labels)
            connection.execute(_INSERT_FILE, (file.path, file.date, file.modified, file.size, file.problem))

        await self._database.run(work)
        self.changed()

    async def get(self, key: str) -> Found | None:
        """The entry with a key; the newest one if several files have it."""
        rows = await self._rows("key = ? ORDER BY number DESC LIMIT 1", (key,))
        return rows[0] if rows else None

    async def of_day(self, date: str) -> list[Found]:
        """Entries of a day as they are written."""
        return await self._rows("number >= ? AND number < ? ORDER BY number", (_first(date), _first(date, 1)))

    async def between(self, first: str, last: str, limit: int, offset: int) -> list[Found]:
        """Entries from one day to another, newest first; of the days that are skipped none is read."""
        start, end = _first(first), _first(last, 1)
        if offset:
            found = await self._database.run(
                lambda connection: connection.execute(_DAY_AT, (start // _DAY, end // _DAY, offset)).fetchone()
            )
            if found is None:
                return []
            end, offset = (found[0] + 1) * _DAY, offset - found[1]
        return await self._rows(
            "number >= ? AND number < ? ORDER BY number DESC LIMIT ? OFFSET ?", (start, end, limit, offset)
        )

    async def count(self, first: str, last: str) -> int:
        """The number of entries from one day to another."""
        bounds = _first(first) // _DAY, _first(last, 1) // _DAY
        query = "SELECT coalesce(sum(entries), 0) FROM days WHERE number >= ? AND number < ?"
        return int(await self._database.run(lambda connection: connection.execute(query, bounds).fetchone()[0]))

    async def days(self, first: str, last: str) -> list[tuple[str, int]]:
        """The days that have entries, from one to another, each with how many."""
        bounds = _first(first) // _DAY, _first(last, 1) // _DAY
        query = "SELECT number, entries FROM days WHERE number >= ? AND number < ? AND entries > 0 ORDER BY number"
        rows = await self._database.run(lambda connection: connection.execute(query, bounds).fetchall())
        return [(datetime.date.fromordinal(row[0]).isoformat(), row[1]) for row in rows]

    async def search(self, text: str, first: str, last: str, limit: int, only: Only = ANY) -> list[Found]:
        """Entries with all the words of a text, the last one perhaps unfinished (from two letters on), newest first; error: InvalidInput.

        Without a text those with the labels that are wanted.
        """
        asked, sign = words(text)[:_MOST_WORDS], text.strip()
        bounds = _first(first), _first(last, 1)
        if not sign and not only.labels:
            raise InvalidInput("q: words to search for are expected.", key="search_empty")

        def work(connection: sqlite3.Connection) -> list[tuple[Any, ...]]:
            if not sign:
                return labelled.newest(connection, only, bounds, _OF_ENTRIES, limit)
            if asked:
                last = quoted(asked[-1], is_unfinished=len(asked[-1]) > 1)
                wanted = " ".join([*map(quoted, asked[:-1]), last]).strip() or '""'
                return _with_words(connection, wanted, bounds, limit, only, "words.rowid DESC")
            # Signs that are no words, such as an emoji, are in no index of words.
            where, values = labelled.condition(connection, only, "number")
            query = (
                f"SELECT {_OF_ENTRIES}, NULL FROM entries WHERE instr(content || title, ?) AND number >= ? AND number < ? "  # noqa: S608
                f"AND {where} ORDER BY number DESC LIMIT ?"
            )
            return connection.execute(query, (sign, *bounds, *values, limit)).fetchall()

        return [_found(row) for row in await self._database.run(work)]

    async def labels(self, kind: Kind, limit: int) -> list[tuple[str, int]]:
        """The labels of a kind with how many entries have each, the most frequent first."""
        return await self._database.run(lambda connection: labelled.counted(connection, kind, limit))

    async def written(self, days: Iterable[str]) -> list[str]:
        """The days, of some, that have entries, in the same order."""
        wanted = {_first(day) // _DAY: day for day in days}
        query = "SELECT number FROM days WHERE entries > 0 AND number IN (SELECT value FROM json_each(?))"
        values = (json.dumps(list(wanted)),)
        rows = await self._database.run(lambda connection: connection.execute(query, values).fetchall())
        there = {row[0] for row in rows}
        return [day for number, day in wanted.items() if number in there]

    async def first_year(self) -> int | None:
        """The year of the first entry, None if there is none."""
        query = "SELECT min(number) FROM days WHERE entries > 0"
        first = await self._database.run(lambda connection: connection.execute(query).fetchone()[0])
        return None if first is None else datetime.date.fromordinal(first).year

    async def search_any(self, text: str, first: str, last: str, limit: int, only: Only = ANY) -> list[Found]:
        """Entries with some of the words that tell, the best first.

        Where very many have each of the words, the newest.
        """
        wanted = alternatives(keywords(words(text)[:_MOST_WORDS]))
        bounds = _first(first), _first(last, 1)

        def work(connection: sqlite3.Connection) -> list[tuple[Any, ...]]:
            telling = [each for each in wanted if not _is_common(connection, each)]
            order = "words.rank" if telling else "words.rowid DESC"
            return _with_words(connection, " OR ".join(telling or wanted), bounds, limit, only, order) if wanted else []

        return [_found(row) for row in await self._database.run(work)]

    async def numbered(self, numbers: Sequence[int], first: str, last: str, only: Only = ANY) -> list[Found]:
        """Entries by their numbers, in that order, of those between two days."""

        def work(connection: sqlite3.Connection) -> list[tuple[Any, ...]]:
            where, values = labelled.condition(connection, only, "number")
            query = (
                f"SELECT {_COLUMNS} FROM entries WHERE number IN (SELECT value FROM json_each(?)) "  # noqa: S608
                f"AND number >= ? AND number < ? AND {where}"
            )
            given = (json.dumps(numbers), _first(first), _first(last, 1), *values)
            return connection.execute(query, given).fetchall()

        rows = [_found(row) for row in await self._database.run(work)]
        known = {found.number: found for found in rows}
        return [known[number] for number in numbers if number in known]

    async def twice(self) -> list[str]:
        """Keys that several entries have."""
        query = "SELECT key FROM entries WHERE key != '' GROUP BY key HAVING count(*) > 1 ORDER BY key"
        return [row[0] for row in await self._database.run(lambda connection: connection.execute(query).fetchall())]

    async def _rows(self, where: str, values: tuple[Any, ...]) -> list[Found]:
        query = f"SELECT {_COLUMNS} FROM entries WHERE {where}"  # noqa: S608 - written above
        rows = await self._database.run(lambda connection: connection.execute(query, values).fetchall())
        return [_found(row) for row in rows]


def _with_words(
    connection: sqlite3.Connection, wanted: str, bounds: tuple[int, int], limit: int, only: Only, order: str
) -> list[tuple[Any, ...]]:
    """The rows of entries that a full-text query finds, each with the part of the text that fits."""
    where, values = labelled.condition(connection, only, "words.rowid")
    query = (
        f"SELECT {_OF_ENTRIES}, snippet(words, -1, '', '', '…', 24) FROM words JOIN entries ON entries.number = words.rowid "  # noqa: S608
        f"WHERE words MATCH ? AND words.rowid >= ? AND words.rowid < ? AND {where} ORDER BY {order} LIMIT ?"
    )
    return connection.execute(query, (wanted, *bounds, *values, limit)).fetchall()


def _is_common(connection: sqlite3.Connection, wanted: str) -> bool:
    query = "SELECT count(*) FROM (SELECT 1 FROM words WHERE words MATCH ? LIMIT ?)"
    return bool(connection.execute(query, (wanted, _COMMON)).fetchone()[0] == _COMMON)


def _put(connection: sqlite3.Connection, file: Indexed, entries: Sequence[Entry]) -> list[str]:
    start = _start(connection, file)
    if start is None:
        file, entries = (
            replace(file, problem=f"A day has more than {_FILES_A_DAY} files; put their texts together."),
            (),
        )
    known = {
        row[0]: row[1:]
        for row in connection.execute(f"SELECT {_COLUMNS} FROM entries WHERE path = ?", (file.path,))  # noqa: S608
    }
    numbered = [((start or 0) + place, entry) for place, entry in enumerate(entries[: _ENTRIES_A_FILE - 1])]
    rows = {number: _row(file, entry) for number, entry in numbered}
    old = [(number,) for number, row in known.items() if rows.get(number) != row]
    new = [(number, *row) for number, row in rows.items() if known.get(number) != row]
    connection.executemany("DELETE FROM entries WHERE number = ?", old)
    connection.executemany(_INSERT, new)
    labelled.put(connection, numbered, file.labels, renewing=True)
    connection.execute(_INSERT_FILE, (file.path, file.date, file.modified, file.size, file.problem))
    texts = {row[0]: (row[3], row[4]) for row in known.values()}
    return [entry.key for entry in entries if entry.key and texts.get(entry.key) != (entry.title, entry.content)]


def _row(file: Indexed, entry: Entry) -> tuple[str, ...]:
    """An entry as the table has it, but for the number."""
    fields = json.dumps(entry.fields, ensure_ascii=False)
    return entry.key, file.date, file.path, entry.title, entry.content, fields


def _start(connection: sqlite3.Connection, file: Indexed) -> int | None:
    """The first number for the entries of a file: those of a day's other files come behind those of the day's own.

    None when there are too many files.
    """
    first = _first(file.date)
    if len(file.path.rpartition("/")[2]) == len("2024-01-15.md"):
        return first
    taken = {
        (row[0] - first) // _ENTRIES_A_FILE: row[1]
        for row in connection.execute(
            "SELECT min(number), path FROM entries WHERE number >= ? AND number < ? GROUP BY path",
            (first, _first(file.date, 1)),
        )
    }
    places = range(1, _FILES_A_DAY)
    place = next((place for place in places if taken.get(place) == file.path), None)
    place = place or next((place for place in places if place not in taken), None)
    return None if place is None else first + place * _ENTRIES_A_FILE


def _first(date: str, days: int = 0) -> int:
    return (datetime.date.fromisoformat(date).toordinal() + days) * _DAY


def _found(row: tuple[Any, ...]) -> Found:
    number, key, date, path, title, content, fields = row[:7]
    snippet = readable(row[7]) if len(row) > 7 and row[7] else None
    return Found(number, date, path, Entry(key, title, content, json.loads(fields)), snippet)
