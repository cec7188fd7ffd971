"""Databases before and after: which migrations ran, whether every page is sound, and what is empty that was not."""

import sqlite3
from collections.abc import Iterable
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

_LARGE = 64 << 20
"""Bytes above which indexes are not compared with their tables, which takes minutes on a small machine."""


@dataclass(frozen=True, slots=True)
class Content:
    """The content of a database: names of its migrations, and how many rows its tables have."""

    migrations: tuple[str, ...] = ()
    rows: dict[str, int] = field(default_factory=dict)
    active_sessions: int = 0
    """Conversations in it that are not archived."""


def content_of(path: Path) -> Content:
    """Look into a database; one that is none, or cannot be read, has nothing. Waits."""
    try:
        with closing(_opened(path)) as connection:
            found = connection.execute(
                "SELECT name FROM sqlite_master WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL%'"
            )
            names = [str(name) for (name,) in found if not str(name).startswith("sqlite_")]
            applied = connection.execute("SELECT name FROM migrations").fetchall() if "migrations" in names else []
            quoted = {name: name.replace('"', '""') for name in names}
            rows = {
                name: int(connection.execute(f'SELECT count(*) FROM "{quoted[name]}"').fetchone()[0])  # noqa: S608
                for name in names
            }
            return Content(tuple(str(name) for (name,) in applied), rows, _active_sessions(connection, rows))
    except (sqlite3.Error, OSError, UnicodeDecodeError):
        return Content()


def _active_sessions(connection: sqlite3.Connection, rows: dict[str, int]) -> int:
    if not rows.get("sessions"):
        return 0
    names = {str(row[1]) for row in connection.execute("PRAGMA table_info(sessions)")}
    where = "WHERE NOT archived" if "archived" in names else ""
    return int(connection.execute(f"SELECT count(*) FROM sessions {where}").fetchone()[0])  # noqa: S608


def problem(path: Path) -> str | None:
    """Return what SQLite finds wrong with a database, None if nothing. Waits."""
    try:
        quick = path.stat().st_size > _LARGE
        with closing(_opened(path)) as connection:
            check = "quick_check" if quick else "integrity_check"
            found = [str(row[0]) for row in connection.execute(f"PRAGMA {check}(5)")]
            return None if found == ["ok"] else "; ".join(found)[:300]
    except sqlite3.Error as error:
        return str(error)
    except OSError as error:
        return error.strerror or str(error)


def present(root: Path, vault: Path) -> list[Path]:
    """The databases of the computer itself, in the state directory and in the vault."""
    return sorted([*root.glob("*.db"), *(vault / ".parachute").glob("*.db")])


def compared(before: dict[Path, Content], after: dict[Path, Content]) -> Iterable[str]:
    """Sentences about what the new version has changed in databases."""
    for path, now in after.items():
        then = before.get(path, Content())
        if not then.migrations:
            continue
        new = [name for name in now.migrations if name not in then.migrations]
        if not new:
            continue
        yield f"{path.name} is migrated: {', '.join(new)}. The present version cannot open it after that."
        for table, count in then.rows.items():
            if count and not now.rows.get(table):
                state = "is empty" if table in now.rows else "no longer exists"
                yield f"In {path.name} the table {table}, which has {count:,} rows, {state}."


def _opened(path: Path) -> sqlite3.Connection:
    return sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, timeout=10)
