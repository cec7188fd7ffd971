"""Texts of a module that the index lacks, and the order of results."""

import sqlite3

import pytest

from parachute.core.meaning import Queue, merged

NOTES = Queue("notes", "id", "SELECT id, text FROM notes WHERE id = :key")


@pytest.fixture
def notes() -> sqlite3.Connection:
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE TABLE notes (id TEXT PRIMARY KEY, text TEXT NOT NULL)")
    connection.execute("INSERT INTO notes VALUES ('old', 'before the queue')")
    connection.executescript(NOTES.schema)
    return connection


def test_what_was_there_before_and_what_changes_is_lacking_until_it_was_given(notes: sqlite3.Connection) -> None:
    notes.execute("INSERT INTO notes VALUES ('new', 'first')")
    numbers, texts, gone = NOTES.next(notes)
    assert (texts, gone) == ({"old": "before the queue", "new": "first"}, [])
    notes.execute("DELETE FROM notes WHERE id = 'new'")
    NOTES.given(notes, numbers, "an index")
    _, texts, gone = NOTES.next(notes)
    assert (texts, gone) == ({"old": "before the queue"}, ["new"])


def test_an_index_that_is_another_one_lacks_everything(notes: sqlite3.Connection) -> None:
    NOTES.given(notes, NOTES.next(notes)[0], "an index")
    NOTES.given(notes, NOTES.next(notes)[0], "an index")
    assert NOTES.next(notes) == ([], {}, [])
    assert NOTES.is_of(notes, "an index")
    assert not NOTES.is_of(notes, "another")
    NOTES.given(notes, [], "another")
    assert NOTES.next(notes)[1] == {"old": "before the queue"}
    notes.executescript(NOTES.schema)
    assert NOTES.is_of(notes, "another")


def test_sure_hits_stay_first_and_each_comes_once() -> None:
    for words, near, limit, expected in (
        ("AB", "", 9, "AB"),
        ("", "xy", 9, "xy"),
        ("AB", "xa", 9, "ABxa"),
        ("Abc", "xb", 9, "Abxc"),
        ("ABC", "x", 2, "AB"),
        ("ab", "ba", 9, "ba"),
    ):
        # A capital is a hit that is sure.
        assert "".join(merged(words, near, limit, lambda hit: hit, str.isupper)) == expected
