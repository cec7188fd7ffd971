"""Reading of one file for the words: its bytes, what it has packed, and the cells of a database."""

import contextlib
import io
import sqlite3
import zipfile
import zlib
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path
from typing import Any, BinaryIO

from parachute.base.folders import Folder
from parachute.ops.forget.words import Words

_CHUNK, _OVERLAP = 4 << 20, 8 << 10
_UNPACKED = 256 << 20
"""Bytes of a packed file that are looked at."""


def holds(path: Path, words: Words) -> bool:
    """Return whether a file has the words in its bytes, also packed by zlib, gzip or as a ZIP archive; error: OSError."""
    with Folder.open(path.parent) as folder, folder.file(path.name) as file:
        return in_stream(file, words) or any(words.are_in(each) for each in _unpacked(file))


def in_stream(file: BinaryIO, words: Words) -> bool:
    """Return whether bytes have the words as they are."""
    kept = b""
    while chunk := file.read(_CHUNK):
        if words.are_in(kept + chunk):
            return True
        kept = chunk[-_OVERLAP:]
    return False


def in_cells(path: Path, words: Words, left: Collection[str] = ()) -> bool:
    """Return whether a database has them in a row of none of the conversations in `left`; bytes alone miss what continues on another page. Error: sqlite3.DatabaseError."""
    with opened(path, is_read_only=True) as connection:
        found = (row for table in tables(connection) for row in rows(connection, table) if not is_of(row, left))
        return any(cell_holds(cell, words) for row in found for cell in row)


@contextlib.contextmanager
def opened(path: Path, *, is_read_only: bool = False) -> Iterator[sqlite3.Connection]:
    """Open a database with the functions that its triggers and views call."""
    address = f"{path.absolute().as_uri()}?mode={'ro' if is_read_only else 'rw'}"
    with contextlib.closing(sqlite3.connect(address, uri=True, timeout=10, isolation_level=None)) as connection:
        connection.text_factory = lambda data: data.decode(errors="surrogateescape")
        connection.create_function("searchable", 1, lambda text: text)
        yield connection


def tables(connection: sqlite3.Connection) -> list[str]:
    """The tables with rows of their own: of a full-text index the index itself, and none of what it is made of."""
    found = dict(
        connection.execute("SELECT name, sql FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
    )
    virtual = full_text(connection)
    shadows = {f"{name}_{part}" for name in virtual for part in ("data", "idx", "docsize", "config", "content")}
    # One that shows the rows of another table has none to lose.
    return [
        name for name, sql in found.items() if name not in shadows and not (name in virtual and "content =" in str(sql))
    ]


def full_text(connection: sqlite3.Connection) -> list[str]:
    """The full-text indexes of a database."""
    query = "SELECT name FROM sqlite_master WHERE type = 'table' AND sql LIKE 'CREATE VIRTUAL TABLE%fts5%'"
    return [name for (name,) in connection.execute(query)]


def rows(connection: sqlite3.Connection, table: str) -> Iterable[tuple[Any, ...]]:
    """All rows of a table."""
    return connection.execute(f"SELECT * FROM {quoted(table)}")  # noqa: S608 - quoted


def is_of(row: Iterable[object], left: Collection[str]) -> bool:
    """Return whether a row names any of these conversations."""
    return bool(left) and any(isinstance(cell, str) and cell in left for cell in row)


def quoted(name: str) -> str:
    """The name as SQL has it."""
    return '"{}"'.format(name.replace('"', '""'))


def cell_holds(cell: object, words: Words) -> bool:
    """Return whether a cell has the words, also packed."""
    if isinstance(cell, str):
        return words.are_in(cell.encode(errors="surrogateescape"))
    return isinstance(cell, bytes) and (
        words.are_in(cell) or any(words.are_in(each) for each in _unpacked(io.BytesIO(cell)))
    )


def _unpacked(file: BinaryIO) -> Iterator[bytes]:
    file.seek(0)
    head = file.read(4)
    file.seek(0)
    with contextlib.suppress(zlib.error, zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError):
        if head.startswith(b"PK\x03\x04"):
            with zipfile.ZipFile(file) as archive:
                for entry in archive.infolist():
                    yield entry.filename.encode(errors="replace")
                    with archive.open(entry) as part:
                        yield part.read(_UNPACKED)
        elif head[:1] == b"\x78" or head.startswith((b"z\x78", b"\x1f\x8b")):
            # The sign of the journal's earlier versions stands in front.
            file.seek(1 if head[:1] == b"z" else 0)
            unpacking = zlib.decompressobj(zlib.MAX_WBITS | 32)
            yield unpacking.decompress(file.read(_UNPACKED), _UNPACKED)
