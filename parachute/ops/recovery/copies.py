"""Copies of the databases that cannot be made anew: one of each, not older than a day of work."""

import os
import sqlite3
import time
from contextlib import closing
from pathlib import Path

from parachute.base.database import suspicion, write_copy
from parachute.ops.recovery.inspection import inspected, is_whole_copy

_DAY_SECONDS = 24 * 60 * 60
_LARGEST = 512 << 20
"""Bytes; copying more every day would wear an SD card out."""

_SMALL = 8 << 20

_DAILY = "daily"


def daily_copy(database: Path) -> Path:
    """Return the path of the daily copy."""
    return database.parent / "copies" / f"{database.stem}-{_DAILY}.db"


def newest_copy(database: Path, *, daily_only: bool) -> Path | None:
    """The newest copy that is whole, those of before a migration included unless `daily_only`."""
    folder, own = database.parent / "copies", daily_copy(database)
    found = [own] if daily_only else [own, *folder.glob(f"{database.stem}-[0-9][0-9][0-9][0-9].db")]
    there = sorted((path for path in found if path.exists()), key=lambda path: path.stat().st_mtime_ns, reverse=True)
    return next((path for path in there if is_whole_copy(path)), None)


def put_in_place(copy: Path, database: Path) -> None:
    """Make a copy the database, which is not there; error: OSError, sqlite3.Error."""
    with closing(sqlite3.connect(f"{copy.absolute().as_uri()}?immutable=1", uri=True)) as connection:
        write_copy(connection, database)


def copy_if_due(database: Path, *, closing_now: bool = False) -> bool:
    """Copy a database that has changed since its copy of yesterday, a small one at every end of the server; whether it was.

    One that cannot be read to its end is marked, and keeps the copy that it has. Errors: OSError, sqlite3.Error.
    """
    size = database.stat().st_size
    changed = max(_modified(path) for path in (database, database.with_name(f"{database.name}-wal")))
    target = daily_copy(database)
    copied = _modified(target)
    is_old = time.time() - copied >= _DAY_SECONDS
    if changed <= copied or size > _LARGEST or not (is_old or (closing_now and size <= _SMALL)):
        return False
    incoming = target.with_name(f"{target.stem}-incoming.db")
    with closing(sqlite3.connect(f"{database.absolute().as_uri()}?mode=rw", uri=True, timeout=5)) as connection:
        write_copy(connection, incoming)
    try:
        if inspected(f"{incoming.absolute().as_uri()}?immutable=1", thorough=True) == "damaged":
            suspicion(database).touch(mode=0o600)
            raise sqlite3.DatabaseError(f"{database} is damaged; the next start replaces it")
        # What is written while it is copied is newer than the copy.
        os.utime(incoming, (changed, changed))
        incoming.replace(target)
    finally:
        incoming.unlink(missing_ok=True)
    return True


def _modified(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except FileNotFoundError:
        return 0.0
