"""SQLite databases: copied while others write them, and looked at after they were restored."""

import contextlib
import os
import sqlite3
from pathlib import Path

_BUSY_SECONDS = 30


def copy(source: Path, target: Path) -> None:
    """Write a consistent copy of a database, with what its write-ahead log holds, into the new file `target`.

    Nobody who writes the database waits for it. Errors: sqlite3.DatabaseError if it is none, or damaged; OSError.
    """
    os.close(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
    try:
        # Read-only, so that a copy changes nothing of it.
        _copy(source, target, "ro")
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode != sqlite3.SQLITE_READONLY_ROLLBACK:
            raise
        # Its writer was killed in a transaction, which lies half done in the file: who opens it next takes that back.
        _copy(source, target, "rw")
    # The log of the copy is empty; a file beside it would be taken for a part of it.
    for kind in ("wal", "shm", "journal"):
        target.with_name(f"{target.name}-{kind}").unlink(missing_ok=True)


def _copy(source: Path, target: Path, mode: str) -> None:
    # A URI, so that nothing in a name ends the path.
    address = f"{source.absolute().as_uri()}?mode={mode}"
    with (
        contextlib.closing(sqlite3.connect(address, uri=True, timeout=_BUSY_SECONDS)) as reading,
        contextlib.closing(sqlite3.connect(target)) as writing,
    ):
        writing.execute("PRAGMA synchronous=OFF")
        # All pages in one step: page by page it would begin anew whenever somebody writes.
        reading.backup(writing)


def problem(path: Path) -> str | None:
    """What SQLite finds wrong with a database that nobody has open, None if nothing; writes nothing beside it."""
    try:
        address = f"{path.absolute().as_uri()}?mode=ro&immutable=1"
        with contextlib.closing(sqlite3.connect(address, uri=True)) as connection:
            connection.execute("PRAGMA trusted_schema=OFF")
            found = [str(row[0]) for row in connection.execute("PRAGMA integrity_check(5)")]
            if found == ["ok"]:
                found = [f"{table} refers to rows that are not there" for (table, *_) in _orphans(connection)]
            return "; ".join(found)[:300] or None
    except sqlite3.DatabaseError as error:
        return str(error)


def _orphans(connection: sqlite3.Connection) -> list[tuple[str, ...]]:
    return connection.execute("PRAGMA foreign_key_check").fetchmany(5)
