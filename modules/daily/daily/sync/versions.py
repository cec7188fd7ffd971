"""Earlier versions of files, in the module's private folder: what was replaced, and what other devices have seen."""

import asyncio
import hashlib
import os
import secrets
import sqlite3
import threading
import time
import zlib
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from daily.journal.database import Database
from parachute.core import NotFound

SEEN = "seen"
_SCHEMA = """
CREATE TABLE IF NOT EXISTS versions (
    number INTEGER PRIMARY KEY AUTOINCREMENT, path TEXT NOT NULL, hash TEXT NOT NULL, size INTEGER NOT NULL,
    stored INTEGER NOT NULL, at REAL NOT NULL, why TEXT NOT NULL, who TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS versions_by_path ON versions (path, number);
CREATE INDEX IF NOT EXISTS versions_by_hash ON versions (hash);
"""
_COLUMNS = "number, path, hash, size, at, why"
_OF_A_FILE = 50
_BYTES = 512 * 1024 * 1024
_COMPRESSED = 8 * 1024 * 1024
_PIECE = 256 * 1024


@dataclass(frozen=True, slots=True)
class Version:
    """`at` is in seconds since 1970; `why` is changed, pushed, deleted or restored, `seen` for what a device has."""

    number: int
    path: str
    hash: str
    size: int
    at: float
    why: str


class Versions:
    """Content is stored once, by its hash. The oldest ones are dropped: above 50 of a file, and above 512 MB in all."""

    def __init__(self, folder: Path, limit: int = _BYTES) -> None:
        self._folder = folder / "versions"
        self._database = Database(folder / "versions.db", _SCHEMA)
        self._limit = limit
        # A file that is written now must not be taken for one that nobody needs any more.
        self._lock = threading.Lock()
        self._stored: int | None = None

    def close(self) -> None:
        """Close the database."""
        self._database.close()

    async def keep(self, path: str, data: bytes, why: str, who: str = "") -> None:
        """Keep a version, unless it is the newest one that is kept for the same reason; `who` has seen it."""
        await asyncio.to_thread(self._keep, path, data, why, who)

    async def keep_stream(self, path: str, chunks: AsyncIterator[bytes], why: str) -> None:
        """Keep a large file; error: those of reading it."""
        await asyncio.to_thread(self._folder.mkdir, 0o700, True, True)
        temporary = self._folder / f".version.{secrets.token_hex(6)}"
        digest, size = hashlib.sha256(), 0
        try:
            with temporary.open("xb") as file:
                async for chunk in chunks:
                    digest.update(chunk)
                    size += len(chunk)
                    await asyncio.to_thread(file.write, chunk)
                await asyncio.to_thread(os.fsync, file.fileno())
            await asyncio.to_thread(self._keep_file, path, temporary, digest.hexdigest(), size, why)
        finally:
            temporary.unlink(missing_ok=True)

    async def all(self, path: str | None, limit: int) -> list[Version]:
        """Replaced versions, newest first."""
        query = (
            f"SELECT {_COLUMNS} FROM versions WHERE why != ? AND (? IS NULL OR path = ?) ORDER BY number DESC LIMIT ?"  # noqa: S608
        )
        values = (SEEN, path, path, limit)
        rows = await self._database.run(lambda connection: connection.execute(query, values).fetchall())
        return [Version(*row) for row in rows]

    async def get(self, number: int) -> tuple[Version, AsyncIterator[bytes]]:
        """A version with its content in pieces; error: NotFound."""
        query = f"SELECT {_COLUMNS} FROM versions WHERE number = ?"  # noqa: S608
        row = await self._database.run(lambda connection: connection.execute(query, (number,)).fetchone())
        if row is None or not (self._folder / row[2]).exists():
            raise NotFound(f"There is no version {number}.", key="no_such_version")
        return Version(*row), self._pieces(Version(*row))

    async def has_seen(self, path: str, digest: str) -> bool:
        """True if a device had this content of a file."""
        query = "SELECT 1 FROM versions WHERE path = ? AND hash = ? AND why = ? LIMIT 1"
        values = (path, digest, SEEN)
        return await self._database.run(lambda connection: connection.execute(query, values).fetchone()) is not None

    async def times_seen(self, path: str, who: str, digest: str) -> int:
        """The number of times that a device came to have this content."""
        query = "SELECT count(*) FROM versions WHERE path = ? AND why = ? AND who = ? AND hash = ?"
        values = (path, SEEN, who, digest)
        return int(await self._database.run(lambda connection: connection.execute(query, values).fetchone()[0]))

    async def seen(self, path: str, who: str, limit: int) -> list[bytes]:
        """Versions of a file that devices with a key had, newest first; those of all devices, if they had none."""
        query = (
            "SELECT hash FROM versions WHERE path = ? AND why = ? {} GROUP BY hash ORDER BY max(number) DESC LIMIT ?"
        )

        def work(connection: sqlite3.Connection) -> list[tuple[str]]:
            own = connection.execute(query.format("AND who = ?"), (path, SEEN, who, limit)).fetchall()
            return own or connection.execute(query.format(""), (path, SEEN, limit)).fetchall()

        rows = await self._database.run(work)
        found = [await asyncio.to_thread(self._content, row[0]) for row in rows]
        return [data for data in found if data is not None]

    def _keep_file(self, path: str, temporary: Path, digest: str, size: int, why: str) -> None:
        with self._lock:
            self._place(temporary, digest)
            self._note(path, digest, size, size, why, "")

    def _place(self, temporary: Path, digest: str) -> None:
        temporary.rename(self._folder / digest)
        # Without a sync of the folder a power cut may take the name away again.
        folder = os.open(self._folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)

    def _keep(self, path: str, data: bytes, why: str, who: str) -> None:
        with self._lock:
            digest = hashlib.sha256(data).hexdigest()
            place = self._folder / digest
            stored = place.stat().st_size if place.exists() else 0
            if not stored:
                packed = b"z" + zlib.compress(data) if len(data) <= _COMPRESSED else b"r" + data
                self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
                temporary = self._folder / f".version.{secrets.token_hex(6)}"
                with temporary.open("xb") as file:
                    file.write(packed)
                    file.flush()
                    os.fsync(file.fileno())
                self._place(temporary, digest)
                stored = len(packed)
            self._note(path, digest, len(data), stored, why, who)

    def _note(self, path: str, digest: str, size: int, stored: int, why: str, who: str) -> None:
        def work(connection: sqlite3.Connection) -> tuple[int, dict[str, int]]:
            before = _stored(connection) if self._stored is None else self._stored
            newest = connection.execute(
                "SELECT hash FROM versions WHERE path = ? AND why = ? AND who = ? ORDER BY number DESC LIMIT 1",
                (path, why, who),
            ).fetchone()
            if newest is None or newest[0] != digest:
                before += 0 if _is_used(connection, digest) else stored
                connection.execute(
                    "INSERT INTO versions (path, hash, size, stored, at, why, who) VALUES (?, ?, ?, ?, ?, ?, ?)",
                    (path, digest, size, stored, time.time(), why, who),
                )
            return before, self._prune(connection, path, why, before)

        before, unused = self._database.work(work)
        self._stored = before - sum(unused.values())
        for each in unused:
            (self._folder / each).unlink(missing_ok=True)

    def _prune(self, connection: sqlite3.Connection, path: str, why: str, stored: int) -> dict[str, int]:
        """Forget the oldest ones, and return the hashes that nothing has any more with their sizes."""
        same = "why = 'seen'" if why == SEEN else "why != 'seen'"
        old = connection.execute(
            f"SELECT number, hash, stored FROM versions WHERE path = ? AND {same} ORDER BY number DESC LIMIT -1 OFFSET ?",  # noqa: S608
            (path, _OF_A_FILE),
        ).fetchall()
        unused = _forget(connection, old)
        stored -= sum(unused.values())
        if stored > self._limit:
            newest = connection.execute("SELECT max(number) FROM versions").fetchone()[0]
            old = []
            for version in connection.execute("SELECT number, hash, stored FROM versions ORDER BY number"):
                if stored <= self._limit or version[0] == newest:
                    break
                old.append(version)
                stored -= version[2]
            unused |= _forget(connection, old)
        return unused

    async def _pieces(self, version: Version) -> AsyncIterator[bytes]:
        if version.size <= _COMPRESSED:
            content: bytes | None = await asyncio.to_thread(self._content, version.hash)
            yield content or b""
            return
        with (self._folder / version.hash).open("rb") as file:
            # A sign may stand in front of the bytes.
            file.seek(os.fstat(file.fileno()).st_size - version.size)
            while piece := await asyncio.to_thread(file.read, _PIECE):
                yield piece

    def _content(self, digest: str) -> bytes | None:
        try:
            packed = (self._folder / digest).read_bytes()
        except FileNotFoundError:
            return None
        # What was kept as a stream has no sign in front.
        if hashlib.sha256(packed).hexdigest() == digest:
            return packed
        return zlib.decompress(packed[1:]) if packed[:1] == b"z" else packed[1:]


def _stored(connection: sqlite3.Connection) -> int:
    """The bytes of all versions."""
    query = "SELECT total(stored) FROM (SELECT DISTINCT hash, stored FROM versions)"
    return int(connection.execute(query).fetchone()[0])


def _is_used(connection: sqlite3.Connection, digest: str) -> bool:
    return connection.execute("SELECT 1 FROM versions WHERE hash = ? LIMIT 1", (digest,)).fetchone() is not None


def _forget(connection: sqlite3.Connection, versions: Sequence[tuple[int, str, int]]) -> dict[str, int]:
    """Take versions out of the table; the hashes that nothing has any more with their sizes."""
    connection.executemany("DELETE FROM versions WHERE number = ?", [(number,) for number, _, _ in versions])
    return {digest: stored for _, digest, stored in versions if not _is_used(connection, digest)}
