"""Writing the index: what each file says, under its path."""

import json
import sqlite3
from collections.abc import Iterable

from parachute.core.full_text import searchable

from .entity import Entity
from .names import fold, trigrams
from .types_file import folder_of

NAME, SLUG, ALIAS, ID = range(4)
"""Kinds of names, in the order in which they win."""

_SUMMARY = 300


def note_file(
    connection: sqlite3.Connection, path: str, modified: int, size: int, problem: str | None = None, claimed: str = ""
) -> None:
    """Remember that a file was read, and why it is none of ours; `claimed` is the id that another one has, too."""
    connection.execute(
        "INSERT OR REPLACE INTO files (path, modified, size, problem, claimed) VALUES (?, ?, ?, ?, ?)",
        (path, modified, size, problem, claimed),
    )


def put(connection: sqlite3.Connection, entity: Entity, type_: str) -> None:
    """Put an entity in the place of what the index has under its path and its id; its type may not be the one that it says."""
    known = connection.execute(
        "SELECT id FROM entities WHERE para_id = ? OR path = ?", (entity.para_id, entity.path)
    ).fetchall()
    for row in known:
        _forget(connection, row["id"])
    data = {
        "legacy_id": entity.legacy_id,
        "aliases": entity.aliases,
        "tags": entity.tags,
        "fields": entity.fields,
        **({"problem": entity.problem} if entity.problem else {}),
    }
    # The same number again, as long as there is one: fewer pages change.
    number = connection.execute(
        "INSERT INTO entities (id, para_id, path, type, written, folder, name, version, summary, data)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            known[0]["id"] if known else None,
            entity.para_id,
            entity.path,
            type_,
            entity.type,
            folder_of(entity.path),
            entity.name,
            entity.version,
            _summary(entity.text),
            json.dumps(data, ensure_ascii=False),
        ),
    ).lastrowid
    assert number is not None
    for kind, text in _names(entity):
        _put_name(connection, number, kind, text)
    connection.executemany(
        "INSERT INTO links (source, key, target, kind, note) VALUES (?, ?, ?, ?, ?)",
        {(number, link.key, link.target, link.kind, link.note) for link in entity.links},
    )
    connection.execute(
        "INSERT INTO texts (rowid, name, aliases, tags, body) VALUES (?, ?, ?, ?, ?)",
        (number, *map(searchable, (entity.name, "\n".join(entity.aliases), " ".join(entity.tags), entity.text))),
    )


def drop(connection: sqlite3.Connection, path: str) -> None:
    """Forget a file, and the entity that it was."""
    row = connection.execute("SELECT id FROM entities WHERE path = ?", (path,)).fetchone()
    if row is not None:
        _forget(connection, row["id"])
    connection.execute("DELETE FROM files WHERE path = ?", (path,))
    connection.execute("DELETE FROM mentions WHERE path = ?", (path,))


def drop_entity(connection: sqlite3.Connection, path: str) -> None:
    """Forget the entity that a file was, which is still there but says something else now."""
    row = connection.execute("SELECT id FROM entities WHERE path = ?", (path,)).fetchone()
    if row is not None:
        _forget(connection, row["id"])


def put_mentions(connection: sqlite3.Connection, path: str, mentions: Iterable[tuple[str, str, str]]) -> None:
    """All mentions of a file: source, para-id, time."""
    connection.execute("DELETE FROM mentions WHERE path = ?", (path,))
    connection.executemany(
        "INSERT OR REPLACE INTO mentions (source_id, para_id, at, path) VALUES (?, ?, ?, ?)",
        [(source, para_id, at, path) for source, para_id, at in mentions],
    )


def _names(entity: Entity) -> list[tuple[int, str]]:
    names = [(NAME, entity.name), (SLUG, entity.slug), *((ALIAS, alias) for alias in entity.aliases)]
    names += [(ID, text) for text in (entity.para_id, entity.legacy_id, *entity.merged) if text]
    found: dict[tuple[str, bool], tuple[int, str]] = {}
    for kind, text in names:
        # An id is kept beside a name that looks like it.
        key = fold(text), kind == ID
        if key[0] and key not in found:
            found[key] = (kind, text)
    return list(found.values())


def _put_name(connection: sqlite3.Connection, number: int, kind: int, text: str) -> None:
    key = fold(text)
    parts = key.split(" ")
    name = connection.execute(
        "INSERT INTO names (entity, kind, key, first, words, text) VALUES (?, ?, ?, ?, ?, ?)",
        (number, kind, key, parts[0], len(parts), text),
    ).lastrowid
    if kind in (NAME, ALIAS):
        connection.executemany(
            "INSERT INTO trigrams (gram, letters, name) VALUES (?, ?, ?)",
            [(gram, len(key), name) for gram in trigrams(key)],
        )


def _forget(connection: sqlite3.Connection, number: int) -> None:
    for row in connection.execute("SELECT id, key, kind FROM names WHERE entity = ?", (number,)).fetchall():
        if row["kind"] in (NAME, ALIAS):
            connection.executemany(
                "DELETE FROM trigrams WHERE gram = ? AND letters = ? AND name = ?",
                [(gram, len(row["key"]), row["id"]) for gram in trigrams(row["key"])],
            )
    connection.execute("DELETE FROM names WHERE entity = ?", (number,))
    connection.execute("DELETE FROM links WHERE source = ?", (number,))
    connection.execute("DELETE FROM texts WHERE rowid = ?", (number,))
    connection.execute("DELETE FROM entities WHERE id = ?", (number,))


def _summary(text: str) -> str:
    """The first paragraph."""
    for paragraph in text.replace("\r\n", "\n").split("\n\n"):
        if paragraph.strip() and not paragraph.lstrip().startswith("#"):
            return " ".join(paragraph.split())[:_SUMMARY]
    return ""
