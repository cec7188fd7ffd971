"""Queries of the index, answered with entities."""

import sqlite3
from collections.abc import Mapping

from . import found, graph, index, resolving, search, suggesting
from .duplicates import Pair
from .duplicates import pairs as duplicates_of
from .entity_types import Kind
from .found import Found
from .names import fold
from .resolving import Candidate
from .types_file import find

_MOST_OF_A_NAME = 20


def searched(
    connection: sqlite3.Connection, query: str, type_: str | None, limit: int
) -> list[tuple[Found, search.Hit]]:
    """Entities with the words of a query."""
    hits = search.search(connection, query, type_, limit)
    known = {entity.number: entity for entity in found.by_number(connection, [hit.number for hit in hits])}
    return [(known[hit.number], hit) for hit in hits if hit.number in known]


def near(
    connection: sqlite3.Connection, near: list[tuple[str, float]], type_: str | None
) -> list[tuple[Found, search.Hit]]:
    """Entities found by meaning, after those with the words: never as sure as a name."""
    entities = ((found.by_para_id(connection, para_id), score) for para_id, score in near)
    return [
        (entity, search.Hit(entity.number, round(score, 3), entity.summary, by_meaning=True))
        for entity, score in entities
        if entity is not None and type_ in (None, entity.type)
    ]


def resolved(connection: sqlite3.Connection, text: str, limit: int) -> list[tuple[Found, Candidate]]:
    """Entities that a name may mean."""
    candidates = resolving.resolve(connection, text, limit)
    known = {entity.number: entity for entity in found.by_number(connection, [entry.number for entry in candidates])}
    return [(known[entry.number], entry) for entry in candidates if entry.number in known]


def suggested(connection: sqlite3.Connection, text: str) -> list[tuple[suggesting.Mentioned, Found | None]]:
    """Entities that a text mentions."""
    entries = suggesting.suggest(connection, text)
    numbers = [entry.number for entry in entries if entry.number is not None]
    known = {entity.number: entity for entity in found.by_number(connection, numbers)}
    return [(entry, None if entry.number is None else known.get(entry.number)) for entry in entries]


def known(connection: sqlite3.Connection, text: str, kinds: Mapping[str, Kind]) -> Found | None:
    """An entity by its para-id, an older id, or `type/name of its file`; what is only like one of them is none."""
    if text.startswith("para:") and (entity := found.by_para_id(connection, text)) is not None:
        return entity
    row = connection.execute(
        "SELECT entity FROM names WHERE key = ? AND kind = ? AND text = ? ORDER BY entity LIMIT 1",
        (fold(text), index.ID, text),
    ).fetchone()
    if row is not None:
        return found.by_number(connection, [row["entity"]])[0]
    type_, slash, name = text.partition("/")
    kind = find(kinds, type_) if slash else None
    if kind is None:
        return None
    likely = resolved(connection, name, _MOST_OF_A_NAME)
    same = (entity for entity, match in likely if match.match not in ("fuzzy", "part"))
    return next((entity for entity in same if entity.type == kind.name), None)


def edges(connection: sqlite3.Connection, number: int) -> list[tuple[graph.Edge, Found | None]]:
    """Links of an entity, both ways."""
    both = [*graph.outgoing(connection, number), *graph.incoming(connection, number)]
    numbers = {edge.number for edge in both if edge.number is not None}
    known = {entity.number: entity for entity in found.by_number(connection, numbers)}
    return [(edge, None if edge.number is None else known.get(edge.number)) for edge in both]


def mention_path(connection: sqlite3.Connection, source_id: str, para_id: str) -> str | None:
    """The file in which a mention is recorded."""
    found = recorded(connection, source_id, para_id)
    return None if found is None else found[0]


def recorded(connection: sqlite3.Connection, source_id: str, para_id: str) -> tuple[str, str] | None:
    """The file in which a mention is recorded, and the id that it has there."""
    row = connection.execute(
        f"SELECT path, para_id FROM mentions WHERE source_id = ? AND para_id IN ({graph.IDS}) LIMIT 1",  # noqa: S608 - ours
        (source_id, para_id, para_id, index.ID),
    ).fetchone()
    return None if row is None else (row["path"], row["para_id"])


def merged_into(connection: sqlite3.Connection, para_id: str) -> str | None:
    """The entity whose file says that another one was merged into it."""
    row = connection.execute(
        "SELECT entities.para_id FROM names JOIN entities ON entities.id = entity"
        " WHERE key = ? AND kind = ? AND text = ? AND entities.para_id != ?",
        (fold(para_id), index.ID, para_id, para_id),
    ).fetchone()
    return None if row is None else row["para_id"]


def duplicates(connection: sqlite3.Connection, type_: str) -> list[tuple[Pair, Found, Found]]:
    """Entities of a type that may be one, the surest first."""
    pairs = duplicates_of(connection, type_)
    numbers = {number for pair in pairs for number in (pair.one, pair.other)}
    known = {entity.number: entity for entity in found.by_number(connection, numbers)}
    return [(pair, known[pair.one], known[pair.other]) for pair in pairs if {pair.one, pair.other} <= known.keys()]


def neighbourhood(
    connection: sqlite3.Connection, number: int, limit: int
) -> tuple[graph.Neighbourhood, dict[int, Found]]:
    """Return the entities linked with one in two steps, and those named on the way."""
    near = graph.neighbourhood(connection, number, limit)
    return near, {entity.number: entity for entity in found.by_number(connection, near.rings)}
