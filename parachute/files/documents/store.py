"""Texts of documents, in `~/.parachute/documents`; everything in it may be removed, and is read again."""

import asyncio
import shutil
import sqlite3
import zlib
from collections.abc import Iterable
from pathlib import Path

from msgspec import Struct

from parachute.base.database import Database, suspicion
from parachute.base.errors import Unavailable
from parachute.base.files import private_folder, remove_database

_LONGEST_LETTER = 4
"""Bytes of UTF-8."""

_LEAST_FREE = 1 << 30


def m0001_documents(connection: sqlite3.Connection) -> None:
    """Make the table of texts by the paths of their files."""
    connection.execute(
        "CREATE TABLE documents (path TEXT PRIMARY KEY, mark TEXT NOT NULL, pieces INTEGER NOT NULL, reason TEXT, "
        "text BLOB NOT NULL) STRICT"
    )


def m0002_letters(connection: sqlite3.Connection) -> None:
    """Count the letters of each text; those of before are read again."""
    connection.execute("DELETE FROM documents")
    connection.execute("ALTER TABLE documents ADD COLUMN letters INTEGER NOT NULL DEFAULT 0")


class Document(Struct, frozen=True):
    """A document as it was when it was read: its mark, the number of its pieces and letters, and the reason if it has no text."""

    mark: str
    pieces: int
    reason: str | None
    letters: int


class DocumentStore:
    """The texts; the database is opened when it is used first."""

    def __init__(self, folder: Path) -> None:
        self._file = folder / "texts.db"
        self._database: Database | None = None
        self._opening = asyncio.Lock()

    async def close(self) -> None:
        """Close the database."""
        if self._database is not None:
            await self._database.close()

    async def known(self) -> dict[str, Document]:
        """Return all documents by their paths."""
        rows = await (await self._opened()).rows("SELECT path, mark, pieces, reason, letters FROM documents")
        return {row[0]: Document(row[1], row[2], row[3], row[4]) for row in rows}

    async def text(self, path: str, letters: int = 0) -> str:
        """Return the text of a document or its first letters, empty where there is none."""
        row = await (await self._opened()).row("SELECT text FROM documents WHERE path = ?", (path,))
        data = zlib.decompressobj().decompress(row[0], letters * _LONGEST_LETTER) if row else b""
        return data.decode(errors="ignore")[: letters or None]

    async def has_room(self) -> bool:
        """True while the disk has room for more."""
        return (await asyncio.to_thread(shutil.disk_usage, self._file.parent)).free >= _LEAST_FREE

    async def write(self, path: str, document: Document, text: str) -> None:
        """Remember what was read."""
        data = await asyncio.to_thread(lambda: zlib.compress(text.encode(), 6))
        await (await self._opened()).write(
            "INSERT OR REPLACE INTO documents (path, mark, pieces, reason, letters, text) VALUES (?, ?, ?, ?, ?, ?)",
            (path, document.mark, document.pieces, document.reason, document.letters, data),
        )

    async def forget(self, paths: Iterable[str]) -> None:
        """Forget documents that are gone."""
        async with (await self._opened()).transaction() as connection:
            await connection.executemany("DELETE FROM documents WHERE path = ?", [(path,) for path in paths])

    async def _opened(self) -> Database:
        async with self._opening:
            if self._database is None:
                await asyncio.to_thread(private_folder, self._file.parent)
                database = Database(self._file, (m0001_documents, m0002_letters))
                try:
                    await database.open()
                except Unavailable:
                    await asyncio.to_thread(remove_database, self._file)
                    await asyncio.to_thread(suspicion(self._file).unlink, missing_ok=True)
                    await database.open()
                self._database = database
        return self._database
