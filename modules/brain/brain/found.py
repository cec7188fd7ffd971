"""Entities as the index has them, without opening their files."""

import json
import sqlite3
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

_COLUMNS = "entities.id, entities.para_id, entities.path, entities.type, entities.name, entities.version, summary, data"


@dataclass(frozen=True, slots=True)
class Found:
    """An entity of the index; `number` is its row, `fields` are those that not every entity has."""

    number: int
    para_id: str
    path: str
    type: str
    name: str
    version: str
    summary: str
    aliases: tuple[str, ...]
    tags: tuple[str, ...]
    fields: Mapping[str, Any]
    problem: str


def by_number(connection: sqlite3.Connection, numbers: Iterable[int]) -> list[Found]:
    """Entities in the order of their numbers as given."""
    wanted = list(numbers)
    rows = connection.execute(
        f"SELECT {_COLUMNS} FROM entities WHERE id IN (SELECT value FROM json_each(?))",  # noqa: S608 - our own columns
        (json.dumps(wanted),),
    )
    found = {row["id"]: _found(row) for row in rows}
    return [found[number] for number in wanted if number in found]


def by_para_id(connection: sqlite3.Connection, para_id: str) -> Found | None:
    """One entity."""
    row = connection.execute(f"SELECT {_COLUMNS} FROM entities WHERE para_id = ?", (para_id,)).fetchone()  # noqa: S608
    return None if row is None else _found(row)


def by_path(connection: sqlite3.Connection, path: str) -> Found | None:
    """One entity."""
    row = connection.execute(f"SELECT {_COLUMNS} FROM entities WHERE path = ?", (path,)).fetchone()  # noqa: S608
    return None if row is None else _found(row)


def listed(connection: sqlite3.Connection, type_: str | None, tag: str | None, limit: int, offset: int) -> list[Found]:
    """Entities by name."""
    tests = {
        "type = :type": type_,
        "EXISTS (SELECT 1 FROM json_each(data, '$.tags') AS tag WHERE tag.value = :tag COLLATE NOCASE)": tag,
    }
    wanted = " AND ".join(test for test, value in tests.items() if value is not None) or "TRUE"
    # The numbers first: without a tag they are in the order of an index, and nothing else of those before the page is read.
    numbers = connection.execute(
        f"SELECT id FROM entities WHERE {wanted} ORDER BY name COLLATE NOCASE, id LIMIT :limit OFFSET :offset",  # noqa: S608
        {"type": type_, "tag": tag, "limit": limit, "offset": offset},
    )
    return by_number(connection, [row["id"] for row in numbers])


def counts(connection: sqlite3.Connection) -> dict[str, int]:
    """The number of entities of each type."""
    return {row[0]: row[1] for row in connection.execute("SELECT type, count(*) FROM entities GROUP BY type")}


def problems(connection: sqlite3.Connection) -> list[dict[str, str]]:
    """Files that are no entities, or cannot be read whole, and why."""
    rows = connection.execute("SELECT path, problem FROM files WHERE problem IS NOT NULL ORDER BY path")
    return [{"path": row["path"], "problem": row["problem"]} for row in rows]


def _found(row: sqlite3.Row) -> Found:
    data = json.loads(row["data"])
    return Found(
        number=row["id"],
        para_id=row["para_id"],
        path=row["path"],
        type=row["type"],
        name=row["name"],
        version=row["version"],
        summary=row["summary"],
        aliases=tuple(data["aliases"]),
        tags=tuple(data["tags"]),
        fields=data["fields"],
        problem=data.get("problem", ""),
    )
