"""Words of the collections that nobody else has in an index of words: the files of the vault."""

import json
import re
import unicodedata
from collections.abc import Mapping

from msgspec import Struct

from parachute.core.stopwords import keywords
from parachute.llm.meaning.store import Store

FILES = "files"
"""The collection of texts whose words are searched here."""

_TABLES = f"""
CREATE TABLE IF NOT EXISTS marks (text INTEGER PRIMARY KEY, mark TEXT NOT NULL);
CREATE VIRTUAL TABLE IF NOT EXISTS full_text USING fts5 (
    key, text, content = 'texts', content_rowid = 'number', tokenize = "unicode61 remove_diacritics 2"
);
CREATE TRIGGER IF NOT EXISTS full_text_added AFTER INSERT ON texts WHEN new.collection = '{FILES}' BEGIN
    INSERT INTO full_text (rowid, key, text) VALUES (new.number, new.key, new.text);
END;
CREATE TRIGGER IF NOT EXISTS full_text_changed AFTER UPDATE ON texts WHEN new.collection = '{FILES}' BEGIN
    INSERT INTO full_text (full_text, rowid, key, text) VALUES ('delete', old.number, old.key, old.text);
    INSERT INTO full_text (rowid, key, text) VALUES (new.number, new.key, new.text);
END;
CREATE TRIGGER IF NOT EXISTS full_text_removed AFTER DELETE ON texts WHEN old.collection = '{FILES}' BEGIN
    INSERT INTO full_text (full_text, rowid, key, text) VALUES ('delete', old.number, old.key, old.text);
    DELETE FROM marks WHERE text = old.number;
END;
INSERT INTO full_text (full_text, rank) VALUES ('rank', 'bm25(4.0, 1.0)');
"""  # noqa: S608 - our own words
_WORD = re.compile(r"\w+")
_MOST_WORDS = 16
_BEGINNING = 3


class Hit(Struct, frozen=True):
    """A text with words of a question: from 0 to 1 how good it is, whether it has all of them, and the place where they are."""

    key: str
    score: float
    has_all: bool
    snippet: str


def prepare(store: Store) -> None:
    """Make the tables, where they are not there yet."""
    store.connection.executescript(_TABLES)


def search(store: Store, collection: str, question: str, limit: int) -> list[Hit]:
    """Texts with all words of a question (the last one may be unfinished), or else with some, the best first."""
    # An accent that is a sign of its own would split a word.
    words = _WORD.findall(unicodedata.normalize("NFC", question))[:_MOST_WORDS]
    if not words:
        return []
    query = (
        "SELECT texts.key, full_text.rank, snippet(full_text, 1, '', '', '…', 24) FROM full_text "
        "JOIN texts ON texts.number = full_text.rowid WHERE full_text MATCH ? AND texts.collection = ? "
        "ORDER BY full_text.rank LIMIT ?"
    )
    for joint, wanted in ((" AND ", words), (" OR ", keywords(words))):
        quoted = [f'"{word}"' for word in wanted]
        if wanted[-1] is words[-1] and len(words[-1]) >= _BEGINNING:
            quoted[-1] += "*"
        rows = store.connection.execute(query, (joint.join(quoted), collection, limit)).fetchall()
        if rows:
            return [Hit(key, _score(rank), joint == " AND ", " ".join(found.split())) for key, rank, found in rows]
    return []


def missing(store: Store, collection: str, marks: Mapping[str, str], limit: int) -> list[str]:
    """Keys whose texts are not there as these marks say; texts without a mark here are forgotten."""
    with store.connection as connection:
        connection.execute("BEGIN IMMEDIATE")
        connection.execute(
            "DELETE FROM texts WHERE collection = ? AND key NOT IN (SELECT key FROM json_each(?))",
            (collection, json.dumps(dict.fromkeys(marks, 0))),
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
