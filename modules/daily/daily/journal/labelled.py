"""The part of the index that knows which entries have which labels."""

import sqlite3
from collections.abc import Iterable
from typing import Any

from daily.days.day import Entry
from daily.journal.labels import Kind, Label, Only, labels_of

SCHEMA = """
UPDATE files SET modified = -1 WHERE NOT EXISTS (SELECT 1 FROM sqlite_master WHERE name = 'labels');
CREATE TABLE IF NOT EXISTS labels (
    kind TEXT NOT NULL, label TEXT NOT NULL, number INTEGER NOT NULL, PRIMARY KEY (kind, label, number)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS labels_by_number ON labels (number);
CREATE TABLE IF NOT EXISTS known_labels (
    kind TEXT NOT NULL, label TEXT NOT NULL, text TEXT NOT NULL, entries INTEGER NOT NULL, PRIMARY KEY (kind, label)
) WITHOUT ROWID;
CREATE TRIGGER IF NOT EXISTS labels_added AFTER INSERT ON labels BEGIN
    UPDATE known_labels SET entries = entries + 1 WHERE kind = new.kind AND label = new.label;
END;
CREATE TRIGGER IF NOT EXISTS labels_removed AFTER DELETE ON labels BEGIN
    UPDATE known_labels SET entries = entries - 1 WHERE kind = old.kind AND label = old.label;
END;
CREATE TRIGGER IF NOT EXISTS entries_unlabelled AFTER DELETE ON entries BEGIN
    DELETE FROM labels WHERE number = old.number;
END;
"""
"""Files that an older version has indexed count as changed, so that they are read once more."""

_KNOWN = "INSERT OR IGNORE INTO known_labels (kind, label, text, entries) VALUES (?, ?, ?, 0)"
_ADDED = "INSERT OR IGNORE INTO labels (kind, label, number) VALUES (?, ?, ?)"
_HAS = "EXISTS (SELECT 1 FROM labels WHERE kind = ? AND label = ? AND labels.number = {})"
_MENTIONS = "EXISTS (SELECT 1 FROM json_each(fields, '$.mentions') WHERE value = ?)"

Condition = tuple[str, list[str]]
"""A condition in SQL, and its values."""


def condition(connection: sqlite3.Connection, only: Only, number: str) -> Condition:
    """The condition that a row of `entries` is one of those that are wanted; `number` is the column with its number."""
    labels = _rarest_first(connection, only.labels)
    parts = [_HAS.format(number) for _ in labels]
    values = [value for _, each in labels for value in (each.kind, each.folded)]
    if labels and labels[0][0] == 0:
        return "0", []
    if only.about is not None:
        parts, values = [*parts, _MENTIONS], [*values, only.about]
    return " AND ".join(parts) or "1", values


def newest(
    connection: sqlite3.Connection, only: Only, bounds: tuple[int, int], columns: str, limit: int
) -> list[tuple[Any, ...]]:
    """The newest entries with all labels: they lie in that order by each label."""
    (_, first), *others = _rarest_first(connection, only.labels)
    where, values = condition(connection, Only(only.about, tuple(each for _, each in others)), "those.number")
    query = (
        f"SELECT {columns} FROM labels AS those CROSS JOIN entries ON entries.number = those.number "  # noqa: S608
        f"WHERE those.kind = ? AND those.label = ? AND those.number >= ? AND those.number < ? AND {where} "
        "ORDER BY those.number DESC LIMIT ?"
    )
    return connection.execute(query, (first.kind, first.folded, *bounds, *values, limit)).fetchall()


def put(
    connection: sqlite3.Connection,
    entries: Iterable[tuple[int, Entry]],
    day: Iterable[Label],
    *,
    renewing: bool = False,
) -> None:
    """Take over the labels of entries, by their numbers, of which those of before are gone already unless it is `renewing`."""
    found = [(number, labels_of(entry.content, entry.fields, day)) for number, entry in entries]
    if renewing:
        connection.executemany("DELETE FROM labels WHERE number = ?", [(number,) for number, _ in found])
    rows = [(each, number) for number, labels in found for each in labels]
    connection.executemany(_KNOWN, [(each.kind, each.folded, each.text) for each, _ in rows])
    connection.executemany(_ADDED, [(each.kind, each.folded, number) for each, number in rows])


def counted(connection: sqlite3.Connection, kind: Kind, limit: int) -> list[tuple[str, int]]:
    """The labels of a kind with how many entries have each, the most frequent first."""
    query = "SELECT text, entries FROM known_labels WHERE kind = ? AND entries > 0 ORDER BY entries DESC, label LIMIT ?"
    return connection.execute(query, (kind, limit)).fetchall()


def _rarest_first(connection: sqlite3.Connection, labels: Iterable[Label]) -> list[tuple[int, Label]]:
    query = "SELECT entries FROM known_labels WHERE kind = ? AND label = ?"
    rows = [(connection.execute(query, (each.kind, each.folded)).fetchone(), each) for each in labels]
    return sorted(((row[0] if row else 0, each) for row, each in rows), key=lambda each: each[0])
