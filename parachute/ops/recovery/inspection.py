"""What is wrong with a database file, before the server opens it."""

import sqlite3
import stat
from contextlib import closing
from pathlib import Path
from typing import Literal

from parachute.database import suspicion

Condition = Literal["whole", "damaged", "empty", "gone"]

_CHECKED = 16 << 20
"""Bytes up to which every page is read at each start; larger files are read when they are copied, once a day."""

_DAMAGE = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)


def condition_of(path: Path) -> Condition:
    """How a database is; one that another program holds, or a disk that cannot be read, is left to whoever opens it."""
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
    """Whether a file that nobody writes is a database from its first page to its last, with something in it."""
    try:
        if not stat.S_ISREG(path.lstat().st_mode):
            return False
    except OSError:
        return False
    return inspected(f"{path.absolute().as_uri()}?immutable=1", thorough=True) == "whole"


def inspected(uri: str, *, thorough: bool) -> Condition:
    """What SQLite says of a database: of all its pages if `thorough`, of the first ones otherwise."""
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


def is_damage(error: BaseException | None) -> bool:
    """Whether SQLite says that the file is not as it was written, and not that it is busy, or that the disk is full."""
    # Extended codes carry the primary one in their lowest byte.
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    return code in _DAMAGE or "unsupported file format" in str(error)
