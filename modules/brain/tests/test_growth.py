"""A page of entities costs the same among many (G)."""

import json
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest
from brain import found
from brain.database import Database

pytestmark = pytest.mark.long


@pytest.fixture
def connection(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    """The tables of an index."""
    database = Database(tmp_path / "index.db")
    database.open()
    with database.read() as reading:
        reading.execute("PRAGMA query_only = OFF")
        yield reading
    database.close()


def fill(connection: sqlite3.Connection, first: int, last: int) -> None:
    """Entities of three types, every second with a tag, their names in another order than their numbers."""
    names = "id, para_id, path, type, written, folder, name, version, summary, data"
    connection.executemany(
        f"INSERT INTO entities ({names}) VALUES (?, ?, ?, ?, '', '', ?, '', ?, ?)",  # noqa: S608 - our own columns
        (
            (
                number,
                f"para:{number}",
                f"{number}.md",
                ("person", "topic", "project")[number % 3],
                f"{'Nn'[number % 2]}ame {number * 7_919 % 10_007:05}",
                "A summary of some length. " * 8,
                json.dumps({"aliases": [], "tags": ["Garden"] * (number % 2), "fields": {}}),
            )
            for number in range(first, last)
        ),
    )
    connection.commit()


def steps(connection: sqlite3.Connection, type_: str | None, offset: int) -> int:
    """Count, in tens, the instructions of SQLite for a page."""
    counted = 0

    def count() -> int:
        nonlocal counted
        counted += 1
        return 0

    connection.set_progress_handler(count, 10)
    assert len(found.listed(connection, type_, None, 100, offset)) == 100
    connection.set_progress_handler(None, 10)
    return counted


@pytest.mark.parametrize("type_", [None, "topic"])
def test_four_times_as_many_entities_cost_no_more(connection: sqlite3.Connection, type_: str | None) -> None:
    fill(connection, 0, 700)
    few = steps(connection, type_, 100)
    fill(connection, 700, 2_800)
    assert steps(connection, type_, 100) < 1.2 * few
    assert steps(connection, type_, 800) < 3 * few


def test_pages_follow_each_other_by_name(connection: sqlite3.Connection) -> None:
    fill(connection, 0, 300)
    for type_ in (None, "topic"):
        for tag in (None, "garden"):
            everything = found.listed(connection, type_, tag, 1_000, 0)
            names = [entity.name.casefold() for entity in everything]
            assert names == sorted(names)
            assert len(names) == 300 / (3 if type_ else 1) / (2 if tag else 1)
            assert {entity.type for entity in everything if type_} <= {type_}
            for offset in range(0, len(everything) + 20, 13):
                assert found.listed(connection, type_, tag, 20, offset) == everything[offset : offset + 20]
