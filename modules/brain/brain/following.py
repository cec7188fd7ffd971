"""The index follows the files: by time and size at the start, by what core's watcher tells while the module runs."""

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from dataclasses import dataclass, replace

from parachute.core import ParachuteError
from parachute.core.files import Files

from . import index, mentions
from .database import Database
from .entity import LARGEST, ROOT, Entity, Unreadable, read
from .entity_types import Kind
from .types_file import PATH as TYPES
from .types_file import TypesFile, type_of

ENTITIES, MENTIONS = f"{ROOT}/**/*.md", f"{mentions.FOLDER}/*.jsonl"
MANY = 500
"""From so many changed files on it is worth answering before all of them are read."""

# A larger transaction costs less for each of its files; it ends before it holds others up.
_BATCH, _BATCH_BYTES = 128, 2_000_000


@dataclass(frozen=True, slots=True)
class Status:
    """A file as it was seen in the vault."""

    path: str
    modified: int
    size: int


@dataclass(slots=True)
class _Read:
    """A file with what it says: an entity, mentions, a problem, or nothing since it is gone."""

    status: Status
    data: bytes = b""
    entity: Entity | None = None
    mentions: tuple[tuple[str, str, str], ...] = ()
    problem: str | None = None
    claimed: str = ""


class Following:
    """Keeps the index like the files. `lock` is held by whoever changes files or reads them for the index."""

    def __init__(self, files: Files, database: Database, types: TypesFile, new_id: Callable[[], str]) -> None:
        self._files = files
        self._database = database
        self._types = types
        self._new_id = new_id
        self.lock = asyncio.Lock()
        self.running = False
        self.done = self.total = 0

    async def changed(self, everything: bool = False) -> tuple[list[Status], list[str]]:
        """Files that the index has to read, and those that are gone; `everything`: as if the index knew none."""
        # Before the files are looked at: what is made meanwhile would else seem to be gone.
        known = await asyncio.to_thread(self._known)
        found = [*await self._files.scan(ENTITIES), *await self._files.scan(MENTIONS)]
        seen = [Status(*entry) for entry in found if not entry[0].rpartition("/")[2].startswith(".")]
        gone = known.keys() - {status.path for status in seen}
        new = [status for status in seen if everything or known.get(status.path) != (status.modified, status.size)]
        return new, sorted(gone)

    async def run(self, new: list[Status], gone: list[str]) -> AsyncIterator[dict[str, int]]:
        """Bring the index up to date, and tell after each part how far it is."""
        self.running, self.done, self.total = True, 0, len(new)
        try:
            async with self.lock:
                new = [*new, *await self._drop(gone)]
            self.total = len(new)
            for part in _batches(new):
                async with self.lock:
                    await self._take(part)
                self.done += len(part)
                yield {"done": self.done, "total": self.total}
        finally:
            self.running = False

    async def reconcile(self) -> None:
        """Bring the index up to date."""
        async for _ in self.run(*await self.changed()):
            pass

    async def refresh(self, paths: Iterable[str]) -> None:
        """Look at some paths again; one that is no file of ours may be a folder that came or went."""
        wanted = {path for path in paths if _is_ours(path)}
        if TYPES in wanted:
            wanted |= set(await asyncio.to_thread(self._without_type))
        if any(not path.endswith((".md", ".jsonl", ".yaml")) for path in wanted) or len(wanted) > MANY:
            await self.reconcile()
            return
        async with self.lock:
            await self.take(wanted - {TYPES})

    async def take(self, paths: Iterable[str]) -> None:
        """Read some files anew; the lock is held by the caller."""
        found, gone = [], []
        for path in paths:
            status = await self._files.stat(path)
            if status is None:
                gone.append(path)
            else:
                found.append(Status(path, *status))
        found += await self._drop(gone)
        known = await asyncio.to_thread(self._known_of, [status.path for status in found])
        await self._take([status for status in found if known.get(status.path) != (status.modified, status.size)])

    async def _drop(self, paths: list[str]) -> list[Status]:
        """Forget files that are gone; those that were put aside since they have the same id are to be read then."""
        gone = [path for path in paths if await self._files.stat(path) is None]
        waiting = await asyncio.to_thread(self._forget, gone) if gone else []
        return [Status(path, -1, 0) for path in waiting]

    async def _take(self, statuses: list[Status]) -> None:
        if not statuses:
            return
        kinds = await self._types.all()
        found = await asyncio.gather(*map(self._content, statuses))
        await asyncio.to_thread(_parse_all, found, kinds)
        for entry in found:
            if entry.entity is not None and not entry.entity.para_id:
                await self._identify(entry, kinds)
        await self._put_aside(found)
        await asyncio.to_thread(self._store, found)

    async def _content(self, status: Status) -> _Read:
        if status.path.endswith(".md") and status.size > LARGEST:
            return _Read(status, problem=f"it is larger than {LARGEST:,} bytes")
        try:
            if status.modified < 0:
                now = await self._files.stat(status.path)
                status = Status(status.path, *(now or (0, 0)))
            return _Read(status, await self._files.read_bytes(status.path))
        except ParachuteError as error:
            return _Read(status, problem=error.message)

    async def _identify(self, entry: _Read, kinds: dict[str, Kind]) -> None:
        """Write an id into a file that has none, unless somebody changes it at this moment."""
        assert entry.entity is not None
        try:
            data = entry.entity.identified(self._new_id())
            if not await self._files.replace(entry.status.path, data, entry.data):
                entry.entity, entry.problem = None, "it is being changed"
                entry.status = replace(entry.status, modified=0)
                return
        except (ParachuteError, Unreadable) as error:
            entry.entity, entry.problem = None, f"no para_id can be written into it: {error}"
            return
        status = await self._files.stat(entry.status.path)
        entry.status = Status(entry.status.path, *(status or (0, 0)))
        entry.entity = _parsed(entry.status.path, data, kinds)

    async def _put_aside(self, found: list[_Read]) -> None:
        """Of several files with one id, the one that had it first keeps it."""
        taken: dict[str, str] = {}
        for entry in found:
            if entry.entity is None:
                continue
            para_id, path = entry.entity.para_id, entry.status.path
            other = taken.get(para_id) or await asyncio.to_thread(self._owner, para_id, path)
            if other and (para_id in taken or await self._files.stat(other) is not None):
                entry.entity, entry.claimed = None, para_id
                entry.problem = f"it has the same para_id as {other}; remove that line, and it gets one of its own"
            else:
                taken[para_id] = path

    def _known(self) -> dict[str, tuple[int, int]]:
        with self._database.read() as connection:
            rows = connection.execute("SELECT path, modified, size FROM files")
            return {row["path"]: (row["modified"], row["size"]) for row in rows}

    def _known_of(self, paths: list[str]) -> dict[str, tuple[int, int]]:
        with self._database.read() as connection:
            rows = [connection.execute("SELECT * FROM files WHERE path = ?", (path,)).fetchone() for path in paths]
        return {row["path"]: (row["modified"], row["size"]) for row in rows if row is not None}

    def _without_type(self) -> list[str]:
        with self._database.write() as connection:
            paths = [row["path"] for row in connection.execute("SELECT path FROM entities WHERE type = ''")]
            connection.executemany("UPDATE files SET modified = 0 WHERE path = ?", [(path,) for path in paths])
        return paths

    def _owner(self, para_id: str, path: str) -> str | None:
        with self._database.read() as connection:
            row = connection.execute(
                "SELECT path FROM entities WHERE para_id = ? AND path != ?", (para_id, path)
            ).fetchone()
        return None if row is None else row["path"]

    def _forget(self, paths: list[str]) -> list[str]:
        waiting: list[str] = []
        with self._database.write() as connection:
            for path in paths:
                waiting += _waiting(connection, path)
                index.drop(connection, path)
        return [path for path in dict.fromkeys(waiting) if path not in paths]

    def _store(self, found: list[_Read]) -> None:
        with self._database.write() as connection:
            for entry in found:
                status = entry.status
                if entry.entity is not None:
                    index.put(connection, entry.entity)
                elif status.path.endswith(".md"):
                    index.drop_entity(connection, status.path)
                elif entry.problem is None:
                    index.put_mentions(connection, status.path, entry.mentions)
                index.note_file(connection, status.path, status.modified, status.size, entry.problem, entry.claimed)


def _batches(statuses: list[Status]) -> Iterator[list[Status]]:
    """Parts of a list, each small enough to be held in memory with what its files say."""
    part: list[Status] = []
    size = 0
    for status in statuses:
        if part and (len(part) >= _BATCH or size + status.size > _BATCH_BYTES):
            yield part
            part, size = [], 0
        part.append(status)
        size += min(status.size, LARGEST) if status.path.endswith(".md") else status.size
    if part:
        yield part


def _waiting(connection: sqlite3.Connection, path: str) -> list[str]:
    rows = connection.execute(
        "SELECT files.path FROM files JOIN entities ON claimed = para_id WHERE entities.path = ? AND problem IS NOT NULL",
        (path,),
    )
    return [row["path"] for row in rows]


def _parse_all(found: list[_Read], kinds: dict[str, Kind]) -> None:
    for entry in found:
        if entry.problem is not None:
            continue
        if not entry.status.path.endswith(".md"):
            entry.mentions = tuple(mentions.parse(entry.data))
            continue
        try:
            entry.entity = _parsed(entry.status.path, entry.data, kinds)
        except Unreadable as error:
            entry.problem = str(error)


def _parsed(path: str, data: bytes, kinds: dict[str, Kind]) -> Entity:
    entity = read(path, data)
    return replace(entity, type=type_of(kinds, entity.type, path))


def _is_ours(path: str) -> bool:
    if path.rpartition("/")[2].startswith("."):
        return False
    inside = path.startswith((f"{ROOT}/", f"{mentions.FOLDER}/"))
    return path == TYPES or path in ("Brain", ROOT, mentions.FOLDER) or inside
