"""Words of the collections that nobody else has in an index of words: the files of the vault."""

import json
import re
from collections.abc import Iterable, Mapping

from msgspec import Struct

from parachute.core.full_text import any_of, is_run, quoted, readable, searchable, words
from parachute.core.stopwords import keywords
from parachute.llm.meaning.store import Store

FILES = "files"
"""The collection of texts whose words are searched here."""

_TABLES = f"""
CREATE TABLE IF NOT EXISTS marks (text INTEGER PRIMARY KEY, mark TEXT NOT NULL);
CREATE VIEW searched AS
    SELECT number, searchable(key) AS key, searchable(text) AS text FROM texts WHERE collection = '{FILES}';
CREATE VIRTUAL TABLE full_text USING fts5 (
    key, text, content = 'searched', content_rowid = 'number', tokenize = "unicode61 remove_diacritics 2"
);
CREATE TRIGGER full_text_added AFTER INSERT ON texts WHEN new.collection = '{FILES}' BEGIN
    INSERT INTO full_text (rowid, key, text) VALUES (new.number, searchable(new.key), searchable(new.text));
END;
CREATE TRIGGER full_text_changed AFTER UPDATE ON texts WHEN new.collection = '{FILES}' BEGIN
    INSERT INTO full_text (full_text, rowid, key, text) VALUES ('delete', old.number, searchable(old.key), searchable(old.text));
    INSERT INTO full_text (rowid, key, text) VALUES (new.number, searchable(new.key), searchable(new.text));
END;
CREATE TRIGGER full_text_removed AFTER DELETE ON texts WHEN old.collection = '{FILES}' BEGIN
    INSERT INTO full_text (full_text, rowid, key, text) VALUES ('delete', old.number, searchable(old.key), searchable(old.text));
    DELETE FROM marks WHERE text = old.number;
END;
INSERT INTO full_text (full_text, rank) VALUES ('rank', 'bm25(4.0, 1.0)');
INSERT INTO full_text (full_text) VALUES ('rebuild');
"""  # noqa: S608 - our own words
_MOST_WORDS = 16
_BEGINNING = 3
_SNIPPET = 300
_BETWEEN = "//"
"""Before the number of a piece of a file, in its key."""

_FIRST, _LAST = "\x02", "\x03"
"""Around a word of the question in a snippet; no text has them."""


class Hit(Struct, frozen=True):
    """A text with words of a question: from 0 to 1 how good it is, whether it has all of them, and the place where they are.

    `offset` counts the letters before the first of the words in the line of `snippet` that has most of them.
    """

    key: str
    score: float
    has_all: bool
    snippet: str
    offset: int = 0


def prepare(store: Store) -> None:
    """Make the tables, where they are not there."""
    store.connection.create_function("searchable", 1, searchable, deterministic=True)
    if not store.connection.execute("SELECT 1 FROM sqlite_schema WHERE name = 'searched'").fetchone():
        store.connection.executescript(f"BEGIN IMMEDIATE; {_TABLES} COMMIT;")


def search(store: Store, collection: str, question: str, limit: int) -> list[Hit]:
    """Texts with all words of a question (the last one may be unfinished), or else with some, the best first."""
    asked = words(question)[:_MOST_WORDS]
    query = (
        f"SELECT texts.key, full_text.rank, snippet(full_text, 1, '{_FIRST}', '{_LAST}', '…', 24), texts.text FROM full_text "  # noqa: S608 - our own words
        "JOIN texts ON texts.number = full_text.rowid WHERE full_text MATCH ? AND texts.collection = ? "
        "ORDER BY full_text.rank LIMIT ?"
    )
    if not asked:
        return []
    last, some = quoted(asked[-1], is_unfinished=len(asked[-1]) >= _BEGINNING), keywords(asked)
    everything = " AND ".join(filter(None, (*map(quoted, asked[:-1]), last)))
    is_beginning = some[-1] is asked[-1] and not is_run(asked[-1])
    for wanted in (everything, any_of(some, last if is_beginning else "")):
        rows = store.connection.execute(query, (wanted, collection, limit)).fetchall() if wanted else []
        if rows:
            files: set[str] = set()
            return [_hit(key, rank, wanted is everything, found, text, files) for key, rank, found, text in rows]
    return []


def _hit(key: str, rank: float, has_all: bool, found: str, text: str, files: set[str]) -> Hit:
    """Make a hit; of the pieces of a file the best one alone has a place, since looking for it takes long."""
    shown = found.replace(_FIRST, "").replace(_LAST, "")
    before, file = _before(found), key.partition(_BETWEEN)[0]
    offset = 0 if before is None or file in files else _offset(text, shown, before)
    files.add(file)
    return Hit(key, _score(rank), has_all, _snippet(shown, max(0, found.find(_FIRST))), offset)


def _snippet(shown: str, before: int) -> str:
    """Return what is around the first word of the question, since other words may be of any length."""
    said, place = (" ".join(readable(part).split()) for part in (shown, shown[:before]))
    if len(said) <= _SNIPPET:
        return said
    first = max(0, min(len(place) - _SNIPPET // 3, len(said) - _SNIPPET))
    last = first + _SNIPPET
    return ("…" if first else "") + said[first:last] + ("…" if last < len(said) else "")


def _before(found: str) -> int | None:
    """Count the letters before the first word of the question in the line of a snippet that has most of them; None without one."""
    best, most, place = None, 0, 0
    for line in re.split("(?<=[\n\f])", found):
        count = line.count(_FIRST)
        if count > most:
            best, most = place + line.index(_FIRST), count
        place += len(line) - count - line.count(_LAST)
    return best


def _offset(text: str, shown: str, before: int) -> int:
    """The place in a text of what stands so far behind the beginning of a part of it, as the index stores both."""
    stored = searchable(text)
    place = stored.find(shown)
    if place < 0:  # a part is shown with a sign at its ends
        begun = shown.removeprefix("…")
        place, before = stored.find(begun.removesuffix("…")), before - (len(shown) - len(begun))
    place = max(0, place) + max(0, before)
    return place if stored is text else len(readable(stored[:place]))


def missing(
    store: Store, collection: str, marks: Mapping[str, str], limit: int, gone: Iterable[str] | None = None
) -> list[str]:
    """Keys whose texts are not there as these marks say; texts that are `gone` are forgotten, by default those without a mark."""
    with store.connection as connection:
        connection.execute("BEGIN IMMEDIATE")
        connection.execute(
            "DELETE FROM texts WHERE collection = ? AND (key IN (SELECT key FROM json_each(?))) = ?",
            (collection, json.dumps(dict.fromkeys(marks if gone is None else gone, 0)), gone is not None),
        )
        rows = connection.execute(
            "SELECT texts.key, marks.mark FROM texts JOIN marks ON marks.text = texts.number WHERE texts.collection = ?",
            (collection,),
        )
        known = dict(rows)
    return [key for key, mark in marks.items() if known.get(key) != mark][:limit]


def mark(store: Store, collection: str, marks: Mapping[str, str]) -> None:
    """Remember the marks of texts that were given."""
    query = "INSERT OR REPLACE INTO marks (text, mark) SELECT number, ? FROM texts WHERE collection = ? AND key = ?"
    with store.connection as connection:
        connection.execute("BEGIN IMMEDIATE")
        connection.executemany(query, [(value, collection, key) for key, value in marks.items()])


def _score(rank: float) -> float:
    # bm25 is below zero, and lower is better, without an end.
    return round(max(0.0, -rank) / (max(0.0, -rank) + 5.0), 3)
