"""The memory of a device: which version of each file it and the computer had in common last, and how far it has read."""

import json
import sqlite3
import zlib
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path

from msgspec import Struct

from parachute.base.disk_errors import is_damage
from parachute.files.sync.models import SyncPage
from parachute.files.sync.scanning import Found

_SCHEMA = """
CREATE TABLE IF NOT EXISTS files (
    path TEXT PRIMARY KEY, base TEXT, text BLOB, past TEXT NOT NULL DEFAULT '[]', is_stale INTEGER NOT NULL DEFAULT 0,
    hash TEXT NOT NULL DEFAULT '', size INTEGER NOT NULL DEFAULT 0, mark TEXT NOT NULL DEFAULT '',
    remote TEXT, remote_size INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE TABLE IF NOT EXISTS reading (cursor TEXT NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS place (name TEXT NOT NULL) STRICT;
"""
_PAST = 50
"""Earlier versions of a file by which this device knows its own past again."""


class Known(Struct, frozen=True):
    """A file as this device remembers it: `base` is the hash of the last version in common, `remote` that of the computer's.

    `is_stale`: a backup was restored since, and `base` says nothing of what the computer has. `past` are versions before `base`.
    """

    path: str
    base: str | None
    past: tuple[str, ...]
    is_stale: bool
    local: Found
    remote: str | None
    remote_size: int


class DeviceState:
    """One SQLite file, of which every change is on the disk when a method returns."""

    def __init__(self, file: Path, place: str) -> None:
        """Open it; what belongs to another place than this one, such as a folder that was restored or copied, or is broken, is forgotten."""
        try:
            self._open(file, place)
        except sqlite3.DatabaseError as error:
            if not is_damage(error):
                raise
            self.close()
            for each in file.parent.glob(f"{file.name}*"):
                each.unlink()
            self._open(file, place)

    def _open(self, file: Path, place: str) -> None:
        self._database = sqlite3.connect(file, isolation_level=None, timeout=5)
        self._database.execute("PRAGMA journal_mode=WAL")
        self._database.execute("PRAGMA synchronous=FULL")
        self._database.executescript(_SCHEMA)
        with self._transaction():
            if self._database.execute("SELECT name FROM place").fetchone() not in (None, (place,)):
                for table in ("files", "reading", "place"):
                    self._database.execute(f"DELETE FROM {table}")  # noqa: S608
            self._database.execute("INSERT INTO place SELECT ? WHERE NOT EXISTS (SELECT * FROM place)", (place,))

    def close(self) -> None:
        """Close the file."""
        self._database.close()

    @property
    def cursor(self) -> str | None:
        """The place up to which the list of the computer was read."""
        found = self._database.execute("SELECT cursor FROM reading").fetchone()
        return str(found[0]) if found else None

    def take_page(self, page: SyncPage) -> None:
        """Note a page of the list; where it begins anew, nothing of before is trusted."""
        with self._transaction():
            if page.is_anew:
                self._database.execute("UPDATE files SET remote = NULL, is_stale = 1")
            for each in page.files:
                self._database.execute(
                    "INSERT INTO files (path, remote, remote_size) VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET "
                    "remote = excluded.remote, remote_size = excluded.remote_size",
                    (each.path, each.hash, each.size),
                )
            self._database.execute("DELETE FROM reading")
            self._database.execute("INSERT INTO reading VALUES (?)", (page.cursor,))

    def files(self) -> dict[str, Known]:
        """Everything that is remembered."""
        rows = self._database.execute(
            "SELECT path, base, past, is_stale, hash, size, mark, remote, remote_size FROM files"
        )
        return {
            row[0]: Known(row[0], row[1], tuple(json.loads(row[2])), bool(row[3]), Found(*row[4:7]), row[7], row[8])
            for row in rows
        }

    def seen(self, found: Collection[tuple[str, Found]]) -> None:
        """Note files of this device as they are now, so that they need not be read again."""
        if not found:
            return
        with self._transaction():
            for path, each in found:
                self._database.execute(
                    "INSERT INTO files (path, hash, size, mark) VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE SET "
                    "hash = excluded.hash, size = excluded.size, mark = excluded.mark",
                    (path, each.hash, each.size, each.mark),
                )

    def text(self, path: str) -> str | None:
        """The text of the last version in common, if it is one that can be merged."""
        found = self._database.execute("SELECT text FROM files WHERE path = ?", (path,)).fetchone()
        return zlib.decompress(found[0]).decode() if found and found[0] is not None else None

    def agreed(self, path: str, digest: str | None, text: str | None) -> None:
        """Note the version that both have now, None if neither has any."""
        with self._transaction():
            if digest is None:
                self._database.execute("DELETE FROM files WHERE path = ?", (path,))
                return
            row = self._database.execute("SELECT base, past FROM files WHERE path = ?", (path,)).fetchone()
            base, past = row if row else (None, "[]")
            earlier = [each for each in (*json.loads(past), base) if each not in (None, digest)][-_PAST:]
            packed = None if text is None else zlib.compress(text.encode())
            self._database.execute(
                "INSERT INTO files (path, base, text, past, remote) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET "
                "base = excluded.base, text = excluded.text, past = excluded.past, remote = excluded.remote, is_stale = 0",
                (path, digest, packed, json.dumps(earlier), digest),
            )

    def remote_is(self, path: str, digest: str | None) -> None:
        """Note what the computer has, as it said in an answer."""
        with self._transaction():
            self._database.execute("UPDATE files SET remote = ? WHERE path = ?", (digest, path))

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        self._database.execute("BEGIN IMMEDIATE")
        try:
            yield
            self._database.execute("COMMIT")
        except BaseException:
            if self._database.in_transaction:
                self._database.execute("ROLLBACK")
            raise
