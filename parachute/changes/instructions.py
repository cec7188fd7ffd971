"""Contents of AGENTS.md and CLAUDE.md that runs wrote, which count as an agent's words until the owner has seen them."""

import json
import sqlite3
from collections.abc import Sequence
from pathlib import Path

from parachute.base.database import Database
from parachute.base.steering.judging import folded

_VERSIONS = 20
"""Of one such file: an agent may write it as often as it likes."""


def m0002_instructions(connection: sqlite3.Connection) -> None:
    """Record what runs write into files of instructions, kept by the database itself, also after the run is forgotten."""
    connection.execute(
        "CREATE TABLE instructions (number INTEGER PRIMARY KEY, file TEXT NOT NULL, hash TEXT NOT NULL, "
        "UNIQUE (file, hash)) STRICT"
    )
    written = (
        "INSERT OR REPLACE INTO instructions (file, hash) SELECT project || '/' || {0}path, json_extract({0}after, '$[2]') "
        "FROM {1} kind = 'run' AND ({0}path LIKE '%AGENTS.md' OR {0}path LIKE '%CLAUDE.md') "
        "AND json_extract({0}after, '$[0]') = 'file'"
    )
    connection.execute(written.format("", "entries JOIN sets ON sets.id = entries.number WHERE"))
    for event, name in (("INSERT", "insert"), ("UPDATE OF after", "update")):
        connection.execute(
            f"CREATE TRIGGER instructions_{name} AFTER {event} ON entries "  # noqa: S608 - from the list above
            "WHEN new.path LIKE '%AGENTS.md' OR new.path LIKE '%CLAUDE.md' BEGIN "
            f"{written.format('new.', 'sets WHERE sets.id = new.number AND')}; "
            "DELETE FROM instructions WHERE file = (SELECT project || '/' || new.path FROM sets WHERE id = new.number) "
            "AND number NOT IN (SELECT number FROM instructions WHERE file = (SELECT project || '/' || new.path "
            f"FROM sets WHERE id = new.number) ORDER BY number DESC LIMIT {_VERSIONS}); END"
        )


def m0005_told(connection: sqlite3.Connection) -> None:
    """Record the same of files that agents are told under any other name, since a file of instructions imports them."""
    connection.execute("CREATE TABLE told (file TEXT PRIMARY KEY) STRICT, WITHOUT ROWID")
    for event, name in (("INSERT", "insert"), ("UPDATE OF after", "update")):
        connection.execute(
            f"CREATE TRIGGER told_{name} AFTER {event} ON entries "  # noqa: S608 - from the list above
            "WHEN json_extract(new.after, '$[0]') = 'file' AND EXISTS (SELECT 1 FROM sets JOIN told "
            "ON told.file = sets.project || '/' || new.path WHERE sets.id = new.number AND sets.kind = 'run') BEGIN "
            "INSERT OR REPLACE INTO instructions (file, hash) SELECT project || '/' || new.path, "
            "json_extract(new.after, '$[2]') FROM sets WHERE id = new.number; "
            "DELETE FROM instructions WHERE file = (SELECT project || '/' || new.path FROM sets WHERE id = new.number) "
            "AND number NOT IN (SELECT number FROM instructions WHERE file = (SELECT project || '/' || new.path "
            f"FROM sets WHERE id = new.number) ORDER BY number DESC LIMIT {_VERSIONS}); END"
        )


_WRITTEN_BEFORE = (
    "INSERT OR IGNORE INTO instructions (file, hash) SELECT ?1, json_extract(after, '$[2]') "
    "FROM entries JOIN sets ON sets.id = entries.number WHERE kind = 'run' AND json_extract(after, '$[0]') = 'file' "
    "AND project || '/' || path = ?1 ORDER BY entries.number DESC LIMIT ?2"
)


class Instructions:
    """Contents of files of instructions that agents wrote."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._told: set[Path] = set()

    async def are_told(self, files: Sequence[Path]) -> None:
        """Agents are told these files from now on: what runs write into them counts, and what they have written."""
        if not (new := set(files) - self._told):
            return
        async with self._database.transaction() as connection:
            for file in sorted(map(str, new)):
                added = await connection.execute("INSERT OR IGNORE INTO told (file) VALUES (?)", (file,))
                if added.rowcount:
                    await connection.execute(_WRITTEN_BEFORE, (file, _VERSIONS))
        self._told |= new

    async def told_below(self, folder: Path) -> frozenset[str]:
        """The paths below a folder of files that agents are told whatever they are called, as `folded` names are compared."""
        above = f"{str(folder).rstrip('/')}/"
        # The sign behind the slash ends what begins with the folder.
        rows = await self._database.rows("SELECT file FROM told WHERE file > ? AND file < ?", (above, f"{above[:-1]}0"))
        return frozenset(folded(file[len(above) :]) for (file,) in rows)

    async def is_told(self, file: Path) -> bool:
        """Return whether agents are told a file whatever it is called."""
        return folded(file.name) in await self.told_below(file.parent)

    async def written_by_runs(self, files: Sequence[Path]) -> set[tuple[Path, str]]:
        """Return the contents of these files that a run wrote and that the owner has not seen since, as (file, hash)."""
        query = "SELECT file, hash FROM instructions WHERE file IN (SELECT value FROM json_each(?))"
        rows = await self._database.rows(query, (json.dumps([str(each) for each in files]),))
        return {(Path(file), digest) for file, digest in rows}

    async def note_written(self, file: Path, digest: str) -> None:
        """An agent writes this content into a file, and the owner has not seen it."""
        query = "INSERT OR REPLACE INTO instructions (file, hash) VALUES (?, ?)"
        await self._database.write(query, (str(file), digest))

    async def seen(self, file: Path) -> None:
        """The owner has seen a file as it is: what runs wrote into it so far is theirs."""
        await self._database.write("DELETE FROM instructions WHERE file = ?", (str(file),))
