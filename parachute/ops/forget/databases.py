"""Removal of the words from a database: rows that are a thing of their own go, others lose the words, and no free page keeps them."""

import contextlib
import sqlite3
import zlib
from collections.abc import Collection
from pathlib import Path
from typing import Any

from parachute.ops.forget.reading import cell_holds, full_text, is_of, opened, quoted, tables
from parachute.ops.forget.words import Words

_WHOLE = {"suggestions": {"suggestions", "resolutions"}, "messengers": {"deliveries", "notices"}}
"""Tables by their databases whose rows go whole: a proposal or a letter without its words must not be carried out or sent."""


def erase_rows(path: Path, words: Words, left: Collection[str]) -> bool:
    """Remove the words from every row that is not of a conversation in `left`; returns whether there were any. Errors: sqlite3.Error, OSError."""
    with opened(path) as connection:
        for pragma in ("secure_delete=ON", "foreign_keys=OFF"):
            connection.execute(f"PRAGMA {pragma}")
        whole = _WHOLE.get(path.stem.partition("-")[0], set())
        connection.execute("BEGIN IMMEDIATE")
        try:
            broken = _broken(connection)
            changed = [
                _of_table(connection, table, words, left, removes=table in whole) for table in tables(connection)
            ]
            for table in full_text(connection):
                # Terms of rows that have gone long ago stay in an index until it is made anew.
                connection.execute(f"INSERT INTO {quoted(table)} ({quoted(table)}) VALUES ('rebuild')")  # noqa: S608 - quoted
            while orphans := _broken(connection) - broken:
                for table, row in orphans:
                    connection.execute(f"DELETE FROM {quoted(table)} WHERE rowid = ?", (row,))  # noqa: S608 - quoted
            connection.execute("COMMIT")
        except BaseException:
            connection.execute("ROLLBACK")
            raise
        connection.execute("VACUUM")
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return any(changed)


def _of_table(
    connection: sqlite3.Connection, table: str, words: Words, left: Collection[str], *, removes: bool
) -> bool:
    columns = connection.execute(f"PRAGMA table_info({quoted(table)})").fetchall()
    names = [column[1] for column in columns]
    keys = [column[1] for column in sorted(columns, key=lambda each: each[5]) if column[5]]
    is_virtual = table in full_text(connection)
    with_rowid = is_virtual or not keys or _has_rowid(connection, table)
    key = ["rowid"] if with_rowid else [quoted(name) for name in keys]
    places = ["rowid"] if with_rowid else []
    listed = ", ".join([*places, *map(quoted, names)])
    where = " AND ".join(f"{name} IS ?" for name in key)
    changed = False
    for row in connection.execute(f"SELECT {listed} FROM {quoted(table)}").fetchall():  # noqa: S608 - quoted
        cells = row[len(places) :]
        known = row[:1] if with_rowid else tuple(cells[names.index(name)] for name in keys)
        held = {name: cell for name, cell in zip(names, cells, strict=True) if cell_holds(cell, words)}
        new = {name: blank for name, cell in held.items() if (blank := _blanked(cell, words)) != cell}
        if not (held if removes else new) or is_of(cells, left):
            continue
        changed = True
        if not removes:
            assigned = ", ".join(f"{quoted(name)} = ?" for name in new)
            with contextlib.suppress(sqlite3.IntegrityError):
                connection.execute(f"UPDATE {quoted(table)} SET {assigned} WHERE {where}", (*new.values(), *known))  # noqa: S608
                continue
        connection.execute(f"DELETE FROM {quoted(table)} WHERE {where}", known)  # noqa: S608 - quoted
    return changed


def _broken(connection: sqlite3.Connection) -> set[tuple[str, int]]:
    """Rows that name a row that is not there."""
    found = connection.execute("PRAGMA foreign_key_check").fetchall()
    return {(table, row) for table, row, _, _ in found if row is not None}


def _has_rowid(connection: sqlite3.Connection, table: str) -> bool:
    try:
        connection.execute(f"SELECT rowid FROM {quoted(table)} LIMIT 0")  # noqa: S608 - quoted
    except sqlite3.OperationalError:
        return False
    return True


def _blanked(cell: Any, words: Words) -> Any:
    if isinstance(cell, str):
        return words.blanked(cell.encode(errors="surrogateescape")).decode(errors="surrogateescape")
    if words.are_in(cell):
        return words.blanked(cell)
    with contextlib.suppress(zlib.error):
        return zlib.compress(words.blanked(zlib.decompress(cell)))
    # It was packed otherwise: nothing of it is worth a mistake.
    return zlib.compress(b"")
