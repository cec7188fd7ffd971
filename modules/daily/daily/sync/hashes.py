"""The list of all shared files with their hashes, which are made again only for files that changed."""

import hashlib
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from daily.journal.database import Database
from daily.journal.names import ROOT
from daily.sync.paths import is_shared
from parachute.core import ParachuteError

_SCHEMA = """
DROP TABLE IF EXISTS hashes;
CREATE TABLE IF NOT EXISTS marked_hashes (
    path TEXT PRIMARY KEY, modified INTEGER NOT NULL, changed INTEGER NOT NULL, number INTEGER NOT NULL,
    size INTEGER NOT NULL, hash TEXT NOT NULL
) WITHOUT ROWID;
"""
_AT_ONCE = 1024 * 1024
Mark = tuple[int, int, int, int]
_JUST_NOW_NS = 100_000_000
"""A file that changed so lately may change again without a new time of change."""


@dataclass(frozen=True, slots=True)
class Shared:
    """A file; `path` is below the journal's folder, `modified` in seconds since 1970, `hash` the SHA-256 of its bytes."""

    path: str
    hash: str
    size: int
    modified: float


Known = tuple[Mark, Shared]


class Hashes:
    """A cache by path and mark, the last answer of which is kept in memory; losing it costs time only."""

    def __init__(self, files: Any, path: Path) -> None:
        self._files = files
        self._database = Database(path, _SCHEMA, disposable=True)
        self._known: dict[str, Known] | None = None
        self._marks: list[tuple[str, Mark]] | None = None
        self._shared: list[Shared] = []

    def close(self) -> None:
        """Close the database."""
        self._database.close()

    async def all(self) -> list[Shared]:
        """Every shared file, the same list while nothing has changed; what cannot be read is left out."""
        marks = await self._files.marks(f"{ROOT}/**")
        if marks == self._marks:
            return self._shared
        known = await self._database.run(_known) if self._known is None else self._known
        kept: dict[str, Known] = {}
        found: list[Shared] = []
        fresh: list[tuple[str | int, ...]] = []
        settled = True
        for place, mark in marks:
            path = place.removeprefix(f"{ROOT}/")
            cached = known.get(path)
            if cached is not None and cached[0] == mark:
                kept[path] = cached
                found.append(cached[1])
                continue
            if not is_shared(path):
                continue
            modified, _, _, size = mark
            try:
                digest = await self._hash(path, size)
            except ParachuteError:
                settled = False
                continue
            file = Shared(path, digest, size, modified / 1e9)
            if abs(time.time_ns() - modified) > _JUST_NOW_NS:
                kept[path] = (mark, file)
                fresh.append((path, *mark, digest))
            else:
                settled = False
            found.append(file)
        gone = [(path,) for path in known.keys() - kept.keys()]
        if fresh or gone:

            def work(connection: Any) -> None:
                connection.executemany("DELETE FROM marked_hashes WHERE path = ?", gone)
                connection.executemany("INSERT OR REPLACE INTO marked_hashes VALUES (?, ?, ?, ?, ?, ?)", fresh)

            await self._database.run(work)
        self._known, self._marks, self._shared = kept, marks if settled else None, found
        return found

    async def _hash(self, path: str, size: int) -> str:
        if size <= _AT_ONCE:
            return hashlib.sha256(await self._files.read_bytes(f"{ROOT}/{path}")).hexdigest()
        digest = hashlib.sha256()
        async for chunk in self._files.read_stream(f"{ROOT}/{path}"):
            digest.update(chunk)
        return digest.hexdigest()


def _known(connection: Any) -> dict[str, Known]:
    rows = connection.execute("SELECT path, modified, changed, number, size, hash FROM marked_hashes")
    return {
        path: ((modified, changed, number, size), Shared(path, digest, size, modified / 1e9))
        for path, modified, changed, number, size, digest in rows
        if is_shared(path)
    }
