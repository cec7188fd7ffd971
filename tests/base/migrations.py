"""Migrations for databases of tests, also in programs that tests start: pytest is not imported here."""

import sqlite3


def m0001(connection: sqlite3.Connection) -> None:
    """Make a table."""
    connection.execute("CREATE TABLE things (id INTEGER PRIMARY KEY, text TEXT NOT NULL) STRICT")


def m0002(connection: sqlite3.Connection) -> None:
    """Add a column."""
    connection.execute("ALTER TABLE things ADD COLUMN more TEXT")
