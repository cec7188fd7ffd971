"""Texts of documents, in `~/.parachute/documents`; everything in it may be removed, and is read again."""

import asyncio
import sqlite3
import zlib
from collections.abc import Iterable
from pathlib import Path

from msgspec import Struct

from parachute.base.database import Database, suspicion
from parachute.base.errors import Unavailable
from parachute.base.files import private_folder, remove_database


def m0001_documents(connection: sqlite3.Connection) -> None:
    """Make the table of texts by the paths of their files."""
    connection.execute(
        "CREATE TABLE documents (path TEXT PRIMARY KEY, mark TEXT NOT NULL, pieces INTEGER NOT NULL, reason TEXT, "
        "text BLOB NOT NULL) STRICT"
    )


class Document(Struct, frozen=True):
    """A document as it was when it was read: its mark, the number of its pieces, and the reason if it has no text."""

    mark: str
    pieces: int
    reason: str | None


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
        rows = await (await self._opened()).rows("SELECT path, mark, pieces, reason FROM documents")
        return {row[0]: Document(row[1], row[2], row[3]) for row in rows}

    async def text(self, path: str) -> str:
        """Return the text of a document, empty where there is none."""
        row = await (await self._opened()).row("SELECT text FROM documents WHERE path = ?", (path,))
        return zlib.decompress(row[0]).decode() if row else ""

    async def write(self, path: str, document: Document, text: str) -> None:
        """Remember what was read."""
        data = await asyncio.to_thread(lambda: zlib.compress(text.encode(), 6))
        await (await self._opened()).write(
            "INSERT OR REPLACE INTO documents (path, mark, pieces, reason, text) VALUES (?, ?, ?, ?, ?)",
            (path, document.mark, document.pieces, document.reason, data),
        )

    async def forget(self, paths: Iterable[str]) -> None:
        """Forget documents that are gone."""
        async with (await self._opened()).transaction() as connection:
            await connection.executemany("DELETE FROM documents WHERE path = ?", [(path,) for path in paths])

    async def _opened(self) -> Database:
        async with self._opening:
            if self._database is None:
                await asyncio.to_thread(private_folder, self._file.parent)
                database = Database(self._file, (m0001_documents,))
                try:
                    await database.open()
                except Unavailable:
                    await asyncio.to_thread(remove_database, self._file)
                    await asyncio.to_thread(suspicion(self._file).unlink, missing_ok=True)
                    await database.open()
                self._database = database
        return self._database
