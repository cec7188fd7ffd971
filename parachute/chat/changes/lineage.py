"""Files that runs wrote, with the lowest of what had entered the run: whoever reads one of them reads that."""

import asyncio
import os
import sqlite3
from collections.abc import Iterable, Sequence
from pathlib import Path

from parachute.base.database import Database
from parachute.security.origin import Origin, lowest

_MOST = 2_000
"""Files of one project that are known one by one; of more than these all of it counts."""


def m0003_lineage(connection: sqlite3.Connection) -> None:
    """The files; they outlive the changes themselves, which are forgotten after a while."""
    connection.execute(
        "CREATE TABLE lineage (file TEXT PRIMARY KEY, project TEXT NOT NULL, origin TEXT NOT NULL) "
        "STRICT, WITHOUT ROWID"
    )
    connection.execute("CREATE INDEX lineage_of_project ON lineage (project)")
    connection.execute("ALTER TABLE sets ADD COLUMN origin TEXT")


class Lineage:
    """Remembers what runs wrote; the row of a project itself stands for all that is in it."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def wrote(self, project: Path, paths: Iterable[str], origin: Origin) -> None:
        """Note files that a run is about to write; an origin that was lower stays."""
        place = os.path.realpath(project)
        files = {place if path in ("", ".") else f"{place}/{path}" for path in paths}
        if not files:
            return
        origin = lowest(Origin.AGENT_FILE, origin)
        async with self._database.transaction() as connection:
            query = "SELECT file, origin FROM lineage WHERE project = ?"
            async with connection.execute(query, (place,)) as cursor:
                known = {str(file): Origin(word) for file, word in await cursor.fetchall()}
            whole = known.get(place)
            if whole is not None and not origin.is_below(whole):
                return
            if whole is not None or place in files or len(known.keys() | files) > _MOST:
                await connection.execute("DELETE FROM lineage WHERE project = ?", (place,))
                files, known = {place}, {place: lowest(*known.values())}
            rows = [(file, place, lowest(origin, known.get(file, origin)).value) for file in files]
            await connection.executemany("INSERT OR REPLACE INTO lineage VALUES (?, ?, ?)", rows)

    async def lowest_of(self, places: Sequence[Path]) -> Origin | None:
        """The lowest origin among the files that runs wrote at these places or below them; None if there are none."""
        found: set[tuple[str, str]] = set()
        for place in map(os.path.realpath, places):
            above = [str(each) for each in Path(place).parents]
            marks = ", ".join("?" * len(above))
            query = (
                "SELECT file, origin FROM lineage WHERE file = ? OR (file > ? AND file < ?) "  # noqa: S608 - marks alone
                f"OR (file = project AND file IN ({marks}))"
            )
            below = place.rstrip("/")
            rows = await self._database.rows(query, (place, f"{below}/", f"{below}0", *above))
            found |= {(str(file), str(word)) for file, word in rows}
        # What is gone nobody reads; the lowest that is there decides.
        order = sorted(found, key=lambda each: list(Origin).index(Origin(each[1])), reverse=True)
        return await asyncio.to_thread(
            lambda: next((Origin(word) for file, word in order if os.path.lexists(file)), None)
        )
