"""Watches and the files that they are of, in the sessions' database (spec 003, "Database Schema"): made anew from the files at any time."""

import json
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from parachute.base.clock import now
from parachute.base.database import Database
from parachute.chat.contexts.watches import Watch


class KnownFile(NamedTuple):
    """The file that counts in a folder, and the hash of what it says."""

    path: str
    hash: str


class WatchStore:
    """All watches."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def files(self) -> dict[str, KnownFile]:
        """The context files that were taken in, by their folders."""
        rows = await self._database.rows("SELECT folder_path, path, hash FROM context_files")
        return {folder: KnownFile(path, digest) for folder, path, digest in rows}

    async def set_file(self, folder: str, file: KnownFile | None) -> None:
        """Remember that a file was taken in as it is, or is gone."""
        if file is None:
            await self._database.write("DELETE FROM context_files WHERE folder_path = ?", (folder,))
        else:
            await self._database.write("INSERT OR REPLACE INTO context_files VALUES (?, ?, ?)", (folder, *file))

    async def all(self) -> Sequence[Watch]:
        """Every watch, by the path of its file."""
        query = (
            "SELECT watcher_path, watch_pattern, resolved_paths, problem FROM context_watches ORDER BY watcher_path, id"
        )
        rows = await self._database.rows(query)
        return [Watch(path, pattern, tuple(json.loads(found)), why) for path, pattern, found, why in rows]

    async def watchers_of(self, path: str) -> list[str]:
        """The files that watch a context file."""
        query = (
            "SELECT DISTINCT watcher_path FROM context_watches, json_each(resolved_paths) "
            "WHERE json_each.value = ? ORDER BY watcher_path"
        )
        return [watcher for (watcher,) in await self._database.rows(query, (path,))]

    async def replace(self, watches: Mapping[str, Sequence[Watch]]) -> None:
        """Give files these watches and no others."""
        moment = now()
        async with self._database.transaction() as connection:
            for watcher, found in watches.items():
                patterns = json.dumps([each.pattern for each in found])
                await connection.execute(
                    "DELETE FROM context_watches WHERE watcher_path = ? "
                    "AND watch_pattern NOT IN (SELECT value FROM json_each(?))",
                    (watcher, patterns),
                )
                await connection.executemany(
                    "INSERT INTO context_watches (watcher_path, watch_pattern, resolved_paths, problem, created_at, "
                    "updated_at) VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (watcher_path, watch_pattern) DO UPDATE SET "
                    "resolved_paths = excluded.resolved_paths, problem = excluded.problem, updated_at = excluded.updated_at",
                    [
                        (watcher, each.pattern, json.dumps(each.resolved), each.problem, moment, moment)
                        for each in found
                    ],
                )
