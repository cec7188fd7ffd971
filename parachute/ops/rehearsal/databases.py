"""Databases before and after: which migrations ran, and what is empty that was not."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from msgspec import Struct, field


class Content(Struct, frozen=True):
    """The content of a database: names of its migrations, and how many rows its tables have."""

    migrations: tuple[str, ...] = ()
    rows: dict[str, int] = field(default_factory=dict)


def contents(root: Path, vault: Path) -> dict[Path, Content]:
    """Look into the databases of the computer itself, in the state directory and in the vault. Waits."""
    return {path: _content(path) for path in sorted([*root.glob("*.db"), *(vault / ".parachute").glob("*.db")])}


def compared(before: dict[Path, Content], after: dict[Path, Content]) -> Iterator[str]:
    """Sentences about what the new version has changed in databases."""
    for path, now in after.items():
        then = before.get(path, Content())
        new = [name for name in now.migrations if name not in then.migrations]
        if not then.migrations or not new:
            continue
        yield f"{path.name} is migrated: {', '.join(new)}. The present version cannot open it after that."
        for table, count in then.rows.items():
            if count and not now.rows.get(table):
                state = "is empty" if table in now.rows else "no longer exists"
                yield f"In {path.name} the table {table}, which has {count:,} rows, {state}."


def _content(path: Path) -> Content:
    """Look into a database; one that is none, or cannot be read, has nothing: the doctor says why."""
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, timeout=10)) as connection:
            found = connection.execute(
                "SELECT name FROM sqlite_master WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL%'"
            )
            names = [str(name) for (name,) in found if not str(name).startswith("sqlite_")]
            applied = connection.execute("SELECT name FROM migrations").fetchall() if "migrations" in names else []
            rows = {
                name: int(connection.execute('SELECT count(*) FROM "{}"'.format(name.replace('"', '""'))).fetchone()[0])  # noqa: S608
                for name in names
            }
            return Content(tuple(str(name) for (name,) in applied), rows)
    except (sqlite3.Error, OSError, UnicodeDecodeError):
        return Content()
