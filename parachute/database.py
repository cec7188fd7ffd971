"""SQLite as every store uses it: one writer, read-only readers, numbered migrations."""

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiosqlite

from parachute.errors import Unavailable

Migration = Callable[[sqlite3.Connection], None]


class Database:
    """One database file with a single writing connection and one read-only connection.

    `migrations` run in order, each once, in a transaction, after a copy of the file was made beside it.
    """

    def __init__(
        self, path: Path, migrations: Sequence[Migration], *, page_size: int = 4096, synchronous: str = "NORMAL"
    ) -> None:
        self.path = path
        self._migrations = migrations
        self._page_size = page_size
        self._synchronous = synchronous
        self._writer: aiosqlite.Connection | None = None
        self._reader: aiosqlite.Connection | None = None
        self._write_lock = asyncio.Lock()

    async def open(self) -> None:
        """Open the file, bring it up to date, and connect; error: Unavailable naming the file."""
        try:
            await asyncio.to_thread(self._migrate)
            self._writer = await aiosqlite.connect(self.path, isolation_level=None)
            for pragma in ("foreign_keys=ON", "busy_timeout=5000", f"synchronous={self._synchronous}"):
                await self._writer.execute(f"PRAGMA {pragma}")
            self._reader = await aiosqlite.connect(f"file:{self.path}?mode=ro", uri=True, isolation_level=None)
            await self._reader.execute("PRAGMA query_only=ON")
        except sqlite3.DatabaseError as error:
            await self.close()
            raise Unavailable(
                f"The database {self.path} cannot be opened: {error}.",
                "Free space on the disk, or put a copy of the file in its place: the folder `copies` beside it has them.",
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
        return list(await self._reader.execute_fetchall(query, parameters))

    async def row(self, query: str, parameters: Sequence[Any] | dict[str, Any] = ()) -> sqlite3.Row | None:
        """The first row of a query, or None."""
        found = await self.rows(query, parameters)
        return found[0] if found else None

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[aiosqlite.Connection]:
        """The writing connection, inside a transaction that is rolled back when the block raises."""
        assert self._writer is not None
        async with self._write_lock:
            await self._writer.execute("BEGIN IMMEDIATE")
            try:
                yield self._writer
            except BaseException:
                await self._writer.rollback()
                raise
            await self._writer.commit()

    async def write(self, statement: str, parameters: Sequence[Any] | dict[str, Any] = ()) -> int:
        """One statement in a transaction of its own; the number of rows that it changed."""
        async with self.transaction() as connection:
            cursor = await connection.execute(statement, parameters)
            return cursor.rowcount

    def _migrate(self) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
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
                raise sqlite3.DatabaseError(f"it was written by a newer version ({', '.join(sorted(newer))})")
            pending = [migration for migration in self._migrations if migration.__name__ not in applied]
            if applied and pending:
                self._copy(connection, len(applied))
            for migration in pending:
                connection.execute("BEGIN IMMEDIATE")
                try:
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
        folder = self.path.parent / "copies"
        folder.mkdir(exist_ok=True)
        target = sqlite3.connect(folder / f"{self.path.stem}-{version:04d}.db")
        try:
            connection.backup(target)
        finally:
            target.close()
