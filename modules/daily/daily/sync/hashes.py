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
CREATE TABLE IF NOT EXISTS hashes (
    path TEXT PRIMARY KEY, modified INTEGER NOT NULL, size INTEGER NOT NULL, hash TEXT NOT NULL
) WITHOUT ROWID;
"""
_AT_ONCE = 1024 * 1024
_JUST_NOW_NS = 100_000_000
"""A file that changed so lately may change again without a new time of change."""


@dataclass(frozen=True, slots=True)
class Shared:
    """A file; `path` is below the journal's folder, `modified` in seconds since 1970, `hash` the SHA-256 of its bytes."""

    path: str
    hash: str
    size: int
    modified: float


class Hashes:
    """A cache by path, time of change and size; losing it costs time only."""

    def __init__(self, files: Any, path: Path) -> None:
        self._files = files
        self._database = Database(path, _SCHEMA, disposable=True)

    def close(self) -> None:
        """Close the database."""
        self._database.close()

    async def all(self) -> list[Shared]:
        """Every shared file; what cannot be read is left out."""
        scanned = [
            (path.removeprefix(f"{ROOT}/"), modified, size)
            for path, modified, size in await self._files.scan(f"{ROOT}/**")
        ]
        rows = await self._database.run(
            lambda connection: connection.execute("SELECT path, modified, size, hash FROM hashes").fetchall()
        )
        known = {row[0]: row[1:] for row in rows}
        found: list[Shared] = []
        fresh: list[tuple[str, int, int, str]] = []
        for path, modified, size in scanned:
            if not is_shared(path):
                continue
            cached = known.pop(path, None)
            if cached is not None and cached[:2] == (modified, size):
                digest = cached[2]
            else:
                try:
                    digest = await self._hash(path, size)
                except ParachuteError:
                    continue
                if abs(time.time_ns() - modified) > _JUST_NOW_NS:
                    fresh.append((path, modified, size, digest))
            found.append(Shared(path, digest, size, modified / 1e9))
        if fresh or known:
            gone = [(path,) for path in known]

            def work(connection: Any) -> None:
                connection.executemany("DELETE FROM hashes WHERE path = ?", gone)
                connection.executemany("INSERT OR REPLACE INTO hashes VALUES (?, ?, ?, ?)", fresh)

            await self._database.run(work)
        return found

    async def _hash(self, path: str, size: int) -> str:
        if size <= _AT_ONCE:
            return hashlib.sha256(await self._files.read_bytes(f"{ROOT}/{path}")).hexdigest()
        digest = hashlib.sha256()
        async for chunk in self._files.read_stream(f"{ROOT}/{path}"):
            digest.update(chunk)
        return digest.hexdigest()
