"""SQLite as every store uses it: one writer, read-only readers, numbered migrations."""

import asyncio
import contextlib
import os
import sqlite3
import stat
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import aiosqlite

from parachute.base.disk_errors import disk_error
from parachute.base.errors import Unavailable
from parachute.base.files import private_folder, sync_names

Migration = Callable[[sqlite3.Connection], None]

_OF_THE_FILE = {
    sqlite3.SQLITE_IOERR: "the disk reports an error",
    sqlite3.SQLITE_CANTOPEN: "the file cannot be opened",
    sqlite3.SQLITE_CORRUPT: "the file is damaged",
    sqlite3.SQLITE_NOTADB: "the file is no database",
    sqlite3.SQLITE_BUSY: "another program holds the file",
}
"""Reasons that a person can do something about, by SQLite's primary result code."""

_DAMAGE = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
_NEXT = {
    sqlite3.SQLITE_IOERR: "Check the disk with `parachute doctor disk-space disk-writable`.",
    **dict.fromkeys(_DAMAGE, "`parachute restart` replaces the file with its newest copy and keeps the damaged one."),
}

_FREED = "secure_delete=FAST"
"""Some systems build SQLite so that it fills every page with zeros that is not used any more, and an SD card wears with each."""

_KEPT = "synchronous=FULL"
"""With less, a power cut takes back what was acknowledged since the last checkpoint: a conversation, or a right that was taken away."""


class Database:
    """One database file with a single writing connection and one read-only connection.

    `migrations` run in order, each once, after the file was copied; all that are new are one transaction.
    """

    def __init__(self, path: Path, migrations: Sequence[Migration], *, page_size: int = 4096) -> None:
        self.path = path
        self._migrations = migrations
        self._page_size = page_size
        self._writer: aiosqlite.Connection | None = None
        self._reader: aiosqlite.Connection | None = None
        self._write_lock = asyncio.Lock()

    async def open(self) -> None:
        """Open the file, bring it up to date, and connect; error: Unavailable naming the file."""
        try:
            await asyncio.to_thread(self._migrate)
            # As a URI without its special characters: a `#` or `?` in a folder's name would end the path.
            reading = f"{self.path.absolute().as_uri()}?mode=ro"
            self._writer = await aiosqlite.connect(self.path, isolation_level=None)
            for pragma in ("foreign_keys=ON", "busy_timeout=5000", _KEPT, _FREED):
                await self._writer.execute(f"PRAGMA {pragma}")
            self._reader = await aiosqlite.connect(reading, uri=True, isolation_level=None)
            await self._reader.execute("PRAGMA query_only=ON")
        except Unavailable:
            await self.close()
            raise
        except (sqlite3.DatabaseError, OSError) as error:
            await self.close()
            if known := disk_error(error, self.path):
                raise known from error
            raise Unavailable(
                f"The database {self.path} cannot be opened: {error}.",
                "`parachute doctor databases disk-space disk-writable` finds the cause.",
                key="database_unavailable",
            ) from error

    async def close(self) -> None:
        """Close both connections: their threads keep the process alive otherwise (aiosqlite 0.22)."""
        for connection in (self._reader, self._writer):
            if connection is not None:
                await connection.close()
        self._reader = self._writer = None

    async def rows(self, query: str, parameters: Sequence[Any] | dict[str, Any] = ()) -> list[sqlite3.Row]:
        """All rows of a query on the read-only connection; the query bounds its own number of rows."""
        assert self._reader is not None
        with self._explained("read"):
            return list(await self._reader.execute_fetchall(query, parameters))

    async def row(self, query: str, parameters: Sequence[Any] | dict[str, Any] = ()) -> sqlite3.Row | None:
        """The first row of a query, or None."""
        found = await self.rows(query, parameters)
        return found[0] if found else None

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[aiosqlite.Connection]:
        """The writing connection, inside a transaction that is rolled back when the block raises.

        Error: Unavailable with the reason when the disk or the file does not take it; then nothing was written.
        """
        assert self._writer is not None
        with self._explained("written"):
            async with self._write_lock:
                try:
                    # Inside the block: the thread still begins a transaction whose waiting task was cancelled.
                    await self._writer.execute("BEGIN IMMEDIATE")
                    yield self._writer
                    await self._writer.commit()
                except BaseException:
                    await self._writer.rollback()
                    raise

    async def write(self, statement: str, parameters: Sequence[Any] | dict[str, Any] = ()) -> int:
        """One statement, which is a transaction of its own; the number of rows that it changed."""
        assert self._writer is not None
        with self._explained("written"):
            async with self._write_lock:
                cursor = await self._writer.execute(statement, parameters)
                return cursor.rowcount

    async def insert(self, statement: str, parameters: Sequence[Any] = ()) -> int:
        """One statement that adds a row, and is a transaction of its own; the id of the row."""
        assert self._writer is not None
        with self._explained("written"):
            async with self._write_lock:
                cursor = await self._writer.execute(statement, parameters)
                assert cursor.lastrowid is not None
                return cursor.lastrowid

    @contextmanager
    def _explained(self, done: str) -> Iterator[None]:
        try:
            yield
        except sqlite3.DatabaseError as error:
            # Extended codes carry the primary one in their lowest byte.
            if known := disk_error(error, self.path):
                raise known from error
            code = getattr(error, "sqlite_errorcode", 0) & 0xFF
            reason = _OF_THE_FILE.get(code)
            if reason is None:
                raise
            if code in _DAMAGE:
                with contextlib.suppress(OSError):
                    suspicion(self.path).touch(mode=0o600)
            raise Unavailable(
                f"The database {self.path} cannot be {done}: {reason}.",
                _NEXT.get(code, "Try again; `parachute doctor` finds the cause."),
                key="database_unavailable",
            ) from error

    def _migrate(self) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        # SQLite would make it readable for everybody, and its journals take over the mode of the file. One that is
        # there is not opened for this: closing it would drop the locks of every connection in this process.
        with contextlib.suppress(FileExistsError):
            os.close(os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
        if stat.S_IMODE(self.path.stat().st_mode) & 0o077:
            self.path.chmod(0o600)
        connection = sqlite3.connect(self.path, isolation_level=None, timeout=5)
        try:
            connection.execute(f"PRAGMA page_size={self._page_size}")
            connection.execute("PRAGMA journal_mode=WAL")
            connection.execute(
                "CREATE TABLE IF NOT EXISTS migrations (name TEXT PRIMARY KEY, applied_at TEXT NOT NULL) STRICT"
            )
            applied = {name for (name,) in connection.execute("SELECT name FROM migrations")}
            known = {migration.__name__ for migration in self._migrations}
            if newer := applied - known:
                raise Unavailable(
                    f"The database {self.path} was written by a newer version ({', '.join(sorted(newer))}).",
                    "Install that version, or put a copy of the file in its place: the folder `copies` next to it has them.",
                    key="database_newer",
                )
            pending = [migration for migration in self._migrations if migration.__name__ not in applied]
            if applied and pending:
                self._copy(connection, len(applied))
            if pending:
                # All at once: each transaction waits for the disk, and a new database has many migrations.
                connection.execute("BEGIN IMMEDIATE")
                try:
                    for migration in pending:
                        migration(connection)
                        connection.execute(
                            "INSERT INTO migrations VALUES (?, strftime('%Y-%m-%dT%H:%M:%SZ', 'now'))",
                            (migration.__name__,),
                        )
                    connection.execute("COMMIT")
                except BaseException:
                    connection.execute("ROLLBACK")
                    raise
        finally:
            connection.close()

    def _copy(self, connection: sqlite3.Connection, version: int) -> None:
        write_copy(connection, self.path.parent / "copies" / f"{self.path.stem}-{version:04d}.db")


def suspicion(path: Path) -> Path:
    """The file next to a database that marks it as damaged, so that the next start reads all of it."""
    return path.with_name(f"{path.name}.suspect")


def write_copy(connection: sqlite3.Connection, complete: Path) -> None:
    """Copy a database to a file, which is there when it is complete; errors: OSError, sqlite3.Error."""
    private_folder(complete.parent)
    unfinished = complete.with_suffix(".unfinished")
    unfinished.unlink(missing_ok=True)
    os.close(os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
    try:
        with contextlib.closing(sqlite3.connect(unfinished)) as target:
            connection.backup(target)
        unfinished.replace(complete)
        sync_names(complete.parent)
    except BaseException:
        unfinished.unlink(missing_ok=True)
        raise


def copy_live(source: Path, target: Path) -> None:
    """Write a consistent copy of a database that others may write, with what its log holds; nobody waits for it.

    Errors: sqlite3.DatabaseError if it is none, or damaged; OSError.
    """
    for mode in ("ro", "rw"):
        try:
            # A URI, so that nothing in a name ends the path. Read-only, so that a copy changes nothing of it.
            address = f"{source.absolute().as_uri()}?mode={mode}"
            with contextlib.closing(sqlite3.connect(address, uri=True, timeout=30)) as connection:
                write_copy(connection, target)
            return
        except sqlite3.OperationalError as error:
            # Its writer was killed in a transaction, which lies half done in the file: who opens it next takes that back.
            if mode == "rw" or error.sqlite_errorcode != sqlite3.SQLITE_READONLY_ROLLBACK:
                raise
