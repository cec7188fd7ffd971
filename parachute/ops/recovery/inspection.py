"""Inspection of a database file before the server opens it."""

import sqlite3
import stat
from contextlib import closing
from pathlib import Path
from typing import Literal

from parachute.base.database import suspicion
from parachute.base.disk_errors import is_damage

Condition = Literal["whole", "damaged", "empty", "gone"]

_CHECKED = 16 << 20
"""Bytes up to which every page is read at each start; larger files are read when they are copied, once a day."""


def condition_of(path: Path) -> Condition:
    """Return the condition of a database; one that another program holds, or a disk that cannot be read, is left to whoever opens it."""
    try:
        status = path.lstat()
    except FileNotFoundError:
        return "gone"
    except OSError:
        return "whole"
    if not stat.S_ISREG(status.st_mode):
        return "whole" if stat.S_ISLNK(status.st_mode) else "damaged"
    if not status.st_size:
        return "empty"
    return inspected(
        f"{path.absolute().as_uri()}?mode=rw", thorough=suspicion(path).exists() or status.st_size <= _CHECKED
    )


def is_whole_copy(path: Path) -> bool:
    """Return whether a file that nobody writes is a database from its first page to its last, with something in it."""
    try:
        if not stat.S_ISREG(path.lstat().st_mode):
            return False
    except OSError:
        return False
    return inspected(f"{path.absolute().as_uri()}?immutable=1", thorough=True) == "whole"


def inspected(uri: str, *, thorough: bool) -> Condition:
    """Return SQLite's verdict on a database: on all its pages if `thorough`, on the first ones otherwise."""
    try:
        with closing(sqlite3.connect(uri, uri=True, isolation_level=None, timeout=5)) as connection:
            tables = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
            if thorough and connection.execute("PRAGMA quick_check(1)").fetchone() != ("ok",):
                return "damaged"
            return "whole" if tables else "empty"
    except sqlite3.DatabaseError as error:
        return "damaged" if is_damage(error) else "whole"
    except UnicodeDecodeError:
        return "damaged"  # what SQLite says of a broken schema repeats its bytes


def problem(path: Path) -> str | None:
    """Return what SQLite finds wrong with a database that nobody has open, None if nothing; writes no file next to it."""
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro&immutable=1", uri=True)) as connection:
            connection.execute("PRAGMA trusted_schema=OFF")
            found = [str(row[0]) for row in connection.execute("PRAGMA integrity_check(5)")]
            if found == ["ok"]:
                orphans = connection.execute("PRAGMA foreign_key_check").fetchmany(5)
                found = [f"{table} refers to rows that are not there" for (table, *_) in orphans]
            return "; ".join(found)[:300] or None
    except sqlite3.DatabaseError as error:
        return str(error)
