"""Links between entities, both ways, and from what other modules keep."""

import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from .index import ID
from .resolving import target_of
from .wiki import key_of

_ALL = -1
IDS = "SELECT ? UNION SELECT text FROM names WHERE entity = (SELECT id FROM entities WHERE para_id = ?) AND kind = ?"
"""The ids of an entity, given twice with the kind of names that ids are: its own, and those of what was merged into it."""


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


@dataclass(frozen=True, slots=True)
class Neighbourhood:
    """Entities linked with one in two steps: `rings` has rows with their distance, `lines` pairs of rows with a note."""

    rings: dict[int, int]
    lines: dict[tuple[int, int], str]
    is_cut: bool


def outgoing(connection: sqlite3.Connection, number: int, limit: int = 500) -> list[Edge]:
    """Links of the entity's file, relationships first."""
    rows = connection.execute(
        "SELECT key, target, kind, note FROM links WHERE source = ? ORDER BY kind, note = '', rowid LIMIT ?",
        (number, limit),
    ).fetchall()
    found: dict[tuple[str, int | None], Edge] = {}
    for row in rows:
        other = target_of(connection, row["target"])
        if other != number:
            found.setdefault((row["key"], other), Edge("out", row["kind"], row["note"], other, row["target"]))
    return list(found.values())


def incoming(connection: sqlite3.Connection, number: int, limit: int = 500) -> list[Edge]:
    """Entities whose files link to this one."""
    names = connection.execute("SELECT key, text FROM names WHERE entity = ?", (number,)).fetchall()
    found: dict[int, Edge] = {}
    # A link holds the key of what stands behind its last slash.
    for key in dict.fromkeys(key for row in names for key in (row["key"], key_of(row["text"]))):
        for row in _leading(connection, number, key, limit):
            known = found.get(row["source"])
            if row["source"] != number and (known is None or (row["note"] and not known.note)):
                found[row["source"]] = Edge("in", row["kind"], row["note"], row["source"], row["target"])
    return sorted(found.values(), key=lambda edge: (edge.kind, not edge.note))[:limit]


def linking(connection: sqlite3.Connection, number: int, keys: Iterable[str]) -> tuple[set[int], set[str]]:
    """Entities that link to this one by some keys, itself perhaps among them, and what they write for it."""
    rows = [row for key in keys for row in _leading(connection, number, key, _ALL)]
    return {row["source"] for row in rows}, {row["target"] for row in rows}


def _leading(connection: sqlite3.Connection, number: int, key: str, limit: int) -> list[sqlite3.Row]:
    """Links with a key that lead to an entity; one that several have leads to one of them only, unless a folder is named."""
    rows = connection.execute(
        "SELECT source, target, kind, note FROM links WHERE key = ?1 AND (?2 OR instr(target, '/')) ORDER BY source LIMIT ?3",
        (key, target_of(connection, key) == number, limit),
    ).fetchall()
    leads = {
        target: target_of(connection, target) == number for target in {row["target"] for row in rows} if "/" in target
    }
    return [row for row in rows if leads.get(row["target"], True)]


def mentions(connection: sqlite3.Connection, para_id: str, limit: int = 100) -> list[MentionOf]:
    """Mentions of an entity, and of those that were merged into it, by other modules, the newest first."""
    rows = connection.execute(
        f"SELECT source_id, max(at) AS at FROM mentions WHERE para_id IN ({IDS}) GROUP BY source_id"  # noqa: S608 - ours
        " ORDER BY at DESC, source_id LIMIT ?",
        (para_id, para_id, ID, limit),
    )
    return [MentionOf(row["source_id"], row["at"]) for row in rows]


def neighbourhood(connection: sqlite3.Connection, number: int, limit: int) -> Neighbourhood:
    """The entities at one and two steps from one, up to a limit, the nearest first, and the links between them."""
    rings, is_cut = {number: 0}, False
    lines: dict[tuple[int, int], str] = {}
    for ring in (1, 2):
        for source in [known for known, distance in rings.items() if distance == ring - 1]:
            for edge in (*outgoing(connection, source), *incoming(connection, source)):
                if edge.number is None:
                    continue
                if edge.number not in rings:
                    if len(rings) >= limit:
                        is_cut = True
                        continue
                    rings[edge.number] = ring
                ends = (source, edge.number) if edge.direction == "out" else (edge.number, source)
                lines[ends] = lines.get(ends) or edge.note
    return Neighbourhood(rings, lines, is_cut)
