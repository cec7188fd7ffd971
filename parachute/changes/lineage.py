"""Origins of files: of their contents, wherever these are now, and of places at which something else may have come of them."""

import asyncio
import itertools
import json
import os
import sqlite3
from collections.abc import Iterable, Sequence
from pathlib import Path

from parachute.base.database import Database
from parachute.changes.contents import RANK, Content, Contents
from parachute.security.origin import Origin, lowest

_MOST = 2_000
"""Places of one project that agents wrote and that are known one by one; of more than these all of it counts."""
_PAGE = 500
_PLACES = 100
"""In one question to the database, which takes no more than a few hundred."""
_GIT = ".git"


def m0003_lineage(connection: sqlite3.Connection) -> None:
    """The files; they outlive the changes themselves, which are forgotten after a while."""
    connection.execute(
        "CREATE TABLE lineage (file TEXT PRIMARY KEY, project TEXT NOT NULL, origin TEXT NOT NULL) "
        "STRICT, WITHOUT ROWID"
    )
    connection.execute("CREATE INDEX lineage_of_project ON lineage (project)")
    connection.execute("ALTER TABLE sets ADD COLUMN origin TEXT")


class Lineage:
    """Remembers what runs wrote and imports brought.

    The row of a project stands for all that is in it, that of a repository for all that git shows of it; one that ends with a slash
    stands for the name of a folder. Where a file has been changed since, its place is what is left to tell.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._contents = Contents(database)

    async def wrote(
        self, project: Path, paths: Iterable[str], origin: Origin, contents: Iterable[Content] = ()
    ) -> None:
        """Note places that a run is about to write, and what it writes there; an origin that was lower stays."""
        place = os.path.realpath(project)
        files = {_row(place, path) for path in paths}
        if not files:
            return
        origin = lowest(Origin.AGENT_FILE, origin)
        await self._contents.came(contents, origin)
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

    async def moved(self, place: Path, target: Path) -> None:
        """Note that what is at a place, or below it, is about to be at another one, where nothing is so far."""
        query = (
            "INSERT OR REPLACE INTO lineage SELECT ?2 || substr(file, length(?1) + 1), ?2 || substr(file, length(?1) + 1), "
            "origin FROM lineage WHERE file = ?1 OR (file >= ?1 || '/' AND file < ?1 || '0')"
        )
        old, new = os.path.realpath(place), os.path.realpath(target)
        await self._database.write(query, (old, new))
        above = json.dumps([str(each) for each in Path(old).parents])
        whole = await self._database.rows(
            "SELECT origin FROM lineage WHERE file IN (SELECT value FROM json_each(?))", (above,)
        )
        if whole:
            await self.wrote(Path(new), [""], lowest(*(Origin(word) for (word,) in whole)))

    async def of_contents(self, digests: Iterable[str]) -> Origin | None:
        """The lowest origin among some contents; None if none of them came from runs or from elsewhere."""
        found = await self._contents.origins_of(digests)
        return lowest(*found) if found else None

    async def lowest_of(self, places: Sequence[Path], known: Origin = Origin.OWN_FILE) -> Origin | None:
        """The lowest origin among what came from runs or from elsewhere at these places or below them; None if nothing did.

        What is not below `known` may be left out.
        """
        parts = [await self._of_places(places[at : at + _PLACES]) for at in range(0, len(places), _PLACES)]
        some = [each for each in parts if each is not None]
        noted = lowest(*some) if some else None
        contents = await self._contents.lowest_of(places, lowest(known, noted or known))
        return contents or noted

    async def of_whole(self, folder: Path) -> Origin | None:
        """The origin that was noted of a folder as a whole, though it may be gone."""
        row = await self._database.row("SELECT origin FROM lineage WHERE file = ?", (os.path.realpath(folder),))
        return Origin(row[0]) if row else None

    async def _of_places(self, places: Sequence[Path]) -> Origin | None:
        parameters: list[str] = []
        for place in map(os.path.realpath, places):
            below = place.rstrip("/")
            parameters += (place, f"{below}/", f"{below}0", json.dumps([str(each) for each in Path(place).parents]))
        one = "file = ? OR (file >= ? AND file < ?) OR file IN (SELECT value FROM json_each(?))"
        query = (
            f"SELECT file, origin FROM lineage WHERE {' OR '.join([one] * len(places))} "  # noqa: S608 - marks alone
            f"ORDER BY {RANK.format('origin')} DESC, file LIMIT {_PAGE} OFFSET ?"
        )
        for offset in itertools.count(0, _PAGE):
            rows = await self._database.rows(query, (*parameters, offset))
            found = await asyncio.to_thread(_first_that_is_there, [(str(file), str(word)) for file, word in rows])
            if found is not None or len(rows) < _PAGE:
                return found
        return None


def _first_that_is_there(rows: Sequence[tuple[str, str]]) -> Origin | None:
    """The lowest one decides, and what is gone nobody reads."""
    return next((Origin(word) for file, word in rows if os.path.lexists(file)), None)


def _row(project: str, path: str) -> str:
    """The place by which a path is known: whatever of a repository an agent wrote may be packed with the rest of it at any time."""
    if path in ("", "."):
        return project
    return f"{project}/{_GIT}" if path.startswith(f"{_GIT}/") else f"{project}/{path}"
