"""Rows of a database after words were removed: what was broken before is not ours to remove."""

import sqlite3
import zlib
from contextlib import closing
from pathlib import Path

from parachute.ops.forget.databases import erase_rows
from parachute.ops.forget.words import Words


def test_only_rows_that_this_removal_broke_go(tmp_path: Path) -> None:
    path = tmp_path / "suggestions.db"
    with closing(sqlite3.connect(path)) as database:
        database.execute("CREATE TABLE suggestions (id TEXT PRIMARY KEY, text TEXT)")
        database.execute("CREATE TABLE notes (id TEXT PRIMARY KEY, suggestion TEXT REFERENCES suggestions (id))")
        database.execute("CREATE TABLE lines (id TEXT PRIMARY KEY, note TEXT REFERENCES notes (id))")
        database.executemany("INSERT INTO suggestions VALUES (?, ?)", [("a", "About Emma"), ("b", "Tea")])
        database.executemany("INSERT INTO notes VALUES (?, ?)", [("1", "a"), ("2", "b"), ("3", "gone long ago")])
        database.executemany("INSERT INTO lines VALUES (?, ?)", [("x", "1"), ("y", "2"), ("z", "3")])
        database.commit()
    assert erase_rows(path, Words("Emma"), [])
    with closing(sqlite3.connect(path)) as database:
        assert database.execute("SELECT id FROM suggestions").fetchall() == [("b",)]
        assert database.execute("SELECT id FROM notes ORDER BY id").fetchall() == [("2",), ("3",)]
        assert database.execute("SELECT id FROM lines ORDER BY id").fetchall() == [("y",), ("z",)]


def test_a_packed_text_stays_one(tmp_path: Path) -> None:
    path = tmp_path / "state.db"
    with closing(sqlite3.connect(path)) as database:
        database.execute("CREATE TABLE bases (id TEXT PRIMARY KEY, packed BLOB, number TEXT)")
        database.execute("INSERT INTO bases VALUES ('1', ?, '4917012345678')", (zlib.compress(b"Tea for Emma."),))
        database.commit()
    assert erase_rows(path, Words("Emma"), [])
    assert not erase_rows(path, Words("4917012345678"), [])
    with closing(sqlite3.connect(path)) as database:
        ((packed, number),) = database.execute("SELECT packed, number FROM bases").fetchall()
    assert (zlib.decompress(packed), number) == (b"Tea for ____.", "4917012345678")
