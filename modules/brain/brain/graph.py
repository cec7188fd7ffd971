"""Links between entities, both ways, and from what other modules keep."""

import sqlite3
from dataclasses import dataclass
from typing import Literal

from .resolving import target_of


@dataclass(frozen=True, slots=True)
class Edge:
    """One link as an entity sees it; `number` is the row of the other one, None when nothing has that name yet."""

    direction: Literal["out", "in"]
    kind: str
    note: str
    number: int | None
    target: str


@dataclass(frozen=True, slots=True)
class MentionOf:
    """Something of another module that is about an entity; `at` is ISO 8601."""

    source_id: str
    at: str


def outgoing(connection: sqlite3.Connection, number: int, limit: int = 500) -> list[Edge]:
    """What the entity's file links to, relationships first."""
    rows = connection.execute(
        "SELECT key, target, kind, note FROM links WHERE source = ? ORDER BY kind, note = '', rowid LIMIT ?",
        (number, limit),
    ).fetchall()
    found: dict[str, Edge] = {}
    for row in rows:
        other = target_of(connection, row["key"])
        if other != number:
            found.setdefault(row["key"], Edge("out", row["kind"], row["note"], other, row["target"]))
    return list(found.values())


def incoming(connection: sqlite3.Connection, number: int, limit: int = 500) -> list[Edge]:
    """Entities whose files link to this one."""
    keys = [row["key"] for row in connection.execute("SELECT key FROM names WHERE entity = ?", (number,)).fetchall()]
    found: dict[int, Edge] = {}
    for key in keys:
        # A name that several have leads to one of them only.
        if target_of(connection, key) != number:
            continue
        rows = connection.execute(
            "SELECT source, target, kind, note FROM links WHERE key = ? AND source != ? ORDER BY source LIMIT ?",
            (key, number, limit),
        )
        for row in rows:
            known = found.get(row["source"])
            if known is None or (row["note"] and not known.note):
                found[row["source"]] = Edge("in", row["kind"], row["note"], row["source"], row["target"])
    return sorted(found.values(), key=lambda edge: (edge.kind, not edge.note))[:limit]


def linking(connection: sqlite3.Connection, number: int, keys: list[str]) -> list[int]:
    """Entities that link to this one by one of its names."""
    found: dict[int, None] = {}
    for key in keys:
        if target_of(connection, key) == number:
            for row in connection.execute("SELECT DISTINCT source FROM links WHERE key = ?", (key,)):
                found.setdefault(row["source"])
    return list(found)


def mentions(connection: sqlite3.Connection, para_id: str, limit: int = 100) -> list[MentionOf]:
    """What others have noted to be about an entity, the newest first."""
    rows = connection.execute(
        "SELECT source_id, at FROM mentions WHERE para_id = ? ORDER BY at DESC, source_id LIMIT ?", (para_id, limit)
    )
    return [MentionOf(row["source_id"], row["at"]) for row in rows]
