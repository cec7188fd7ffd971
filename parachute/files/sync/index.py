"""The list of what the vault has, in the order of changes, and the epoch that it belongs to; it can be made again at any time."""

import re
import secrets
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from parachute.base.disk_errors import is_damage
from parachute.files.sync.models import SyncedFile
from parachute.files.sync.scanning import Found, Scan

_SCHEMA = """
CREATE TABLE IF NOT EXISTS files (
    path TEXT PRIMARY KEY, number INTEGER NOT NULL UNIQUE, hash TEXT, size INTEGER NOT NULL, mark TEXT NOT NULL
) STRICT;
CREATE TABLE IF NOT EXISTS epoch (name TEXT NOT NULL, place TEXT NOT NULL, last INTEGER NOT NULL, gone INTEGER NOT NULL) STRICT;
"""
_REMEMBERED = 50_000
"""Removed files that are remembered. A device that has missed more of them compares all."""


class SyncIndex:
    """One SQLite file in a folder of the vault's own; methods wait for the disk."""

    def __init__(self, folder: Path) -> None:
        self._file = folder / "index.db"

    def open(self) -> None:
        """Make what is missing. Another place than that of before is a restored or copied vault: a new epoch begins."""
        try:
            self._open()
        except sqlite3.DatabaseError as error:
            if not is_damage(error):
                raise
            for each in self._file.parent.glob(f"{self._file.name}*"):
                each.unlink()
            self._open()

    def _open(self) -> None:
        status = self._file.parent.stat()
        place = f"{status.st_ino:x}"
        with closing(sqlite3.connect(self._file, isolation_level=None)) as database:
            database.execute("PRAGMA journal_mode=WAL")
            database.executescript(_SCHEMA)
            found = database.execute("SELECT place FROM epoch").fetchone()
            if found is None or found[0] != place:
                database.execute("BEGIN IMMEDIATE")
                database.execute("DELETE FROM epoch")
                database.execute("DELETE FROM files WHERE hash IS NULL")
                last = database.execute("SELECT coalesce(max(number), 0) FROM files").fetchone()[0]
                database.execute("INSERT INTO epoch VALUES (?, ?, ?, 0)", (secrets.token_hex(8), place, last))
                database.execute("COMMIT")

    def known(self) -> dict[str, Found]:
        """The files as they were seen last."""
        with self._connected() as database:
            rows = database.execute("SELECT path, hash, size, mark FROM files WHERE hash IS NOT NULL")
            return {path: Found(digest, size, mark) for path, digest, size, mark in rows}

    def take(self, scan: Scan, before: dict[str, Found]) -> None:
        """Note what was found, and what is gone; all of it or nothing."""
        changed = {path: found for path, found in scan.files.items() if before.get(path) != found}
        gone = [path for path in before if path not in scan.files and scan.knows(path)]
        if not changed and not gone:
            return
        with self._connected() as database:
            database.execute("BEGIN IMMEDIATE")
            last: int = database.execute("SELECT last FROM epoch").fetchone()[0]
            for path, found in changed.items():
                if path in before and before[path].hash == found.hash:
                    database.execute(
                        "UPDATE files SET mark = ?, size = ? WHERE path = ?", (found.mark, found.size, path)
                    )
                    continue
                last += 1
                row = (path, last, found.hash, found.size, found.mark)
                database.execute("INSERT OR REPLACE INTO files VALUES (?, ?, ?, ?, ?)", row)
            for path in gone:
                last += 1
                database.execute("INSERT OR REPLACE INTO files VALUES (?, ?, NULL, 0, '')", (path, last))
            database.execute("UPDATE epoch SET last = ?", (last,))
            oldest = database.execute(
                "SELECT number FROM files WHERE hash IS NULL ORDER BY number DESC LIMIT 1 OFFSET ?", (_REMEMBERED,)
            ).fetchone()
            if oldest is not None:
                database.execute("DELETE FROM files WHERE hash IS NULL AND number <= ?", oldest)
                database.execute("UPDATE epoch SET gone = ?", oldest)
            database.execute("COMMIT")

    def page(self, cursor: str | None, limit: int) -> tuple[str, str, bool, bool, list[SyncedFile]]:
        """The epoch, the cursor behind the last file, whether it begins anew, whether there are more, and the files."""
        with self._connected() as database:
            epoch, last, gone = database.execute("SELECT name, last, gone FROM epoch").fetchone()
            begin, since = _numbers(cursor, epoch)
            is_anew = not gone <= since <= last
            begin, since = (0, last) if is_anew else (begin, since)
            rows = database.execute(
                "SELECT path, hash, size, number FROM files WHERE number > ? AND (hash IS NOT NULL OR number > ?)"
                " ORDER BY number LIMIT ?",
                (begin, since, limit + 1),
            ).fetchall()
        has_more = len(rows) > limit
        number = rows[limit - 1][3] if has_more else last
        # A list of everything begins before what is gone: what counts is when it was begun.
        behind = f"{epoch}.{number}.{since}" if has_more and number < since else f"{epoch}.{number}"
        return epoch, behind, is_anew, has_more, [SyncedFile(*row[:3]) for row in rows[:limit]]

    @contextmanager
    def _connected(self) -> Iterator[sqlite3.Connection]:
        with closing(sqlite3.connect(self._file, isolation_level=None, timeout=5)) as database:
            # What a power cut takes is found again by the next look at the vault, under numbers that no device knows yet.
            database.execute("PRAGMA synchronous=FULL")
            yield database


def _numbers(cursor: str | None, epoch: str) -> tuple[int, int]:
    """The number that a cursor has read up to, and the last one there was when it began to; a negative one for what is no cursor."""
    found = re.fullmatch(rf"{epoch}\.(\d{{1,18}})(?:\.(\d{{1,18}}))?", cursor or "", re.ASCII)
    return (int(found[1]), int(found[2] or found[1])) if found else (0, -1)
