"""Reconciliation of the index with the files: by time and size at the start, by the server's watcher while the module runs."""

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from dataclasses import dataclass, replace

from parachute.core import ParachuteError
from parachute.core.conflict_copies import original_of
from parachute.core.files import Files

from . import index, mentions
from .database import Database
from .entity import LARGEST, ROOT, Entity, Unreadable, read
from .entity_types import Kind
from .types_file import PATH as TYPES
from .types_file import TypesFile, folder_of, type_of

ENTITIES, MENTIONS = f"{ROOT}/**/*.md", f"{mentions.FOLDER}/*.jsonl"
MANY = 500
"""From so many changed files on it is worth answering before all of them are read."""

# A larger transaction costs less for each of its files; it ends before it holds others up.
_BATCH, _BATCH_BYTES = 128, 2_000_000
_MOST_CREATED = 50
"""Of more at a time, such as an import, nobody is told: the journal would be searched for each."""


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
    type: str = ""
    mentions: tuple[tuple[str, str, str], ...] = ()
    problem: str | None = None
    claimed: str = ""


class Reconciler:
    """Keeps the index like the files. `lock` is held by whoever changes files or reads them for the index."""

    def __init__(self, files: Files, database: Database, types: TypesFile, new_id: Callable[[], str]) -> None:
        self._files = files
        self._database = database
        self._types = types
        self._new_id = new_id
        self.lock = asyncio.Lock()
        self.running = False
        self.done = self.total = 0
        self.unnamed: list[str] = []
        """Files whose names are no text; the index cannot hold them."""
        self.created: dict[str, list[str]] = {}
        """Names of entities that the index did not know, by para-id, until somebody was told of them."""

    async def changed(self, everything: bool = False) -> tuple[list[Status], list[str]]:
        """Files that the index has to read, and those that are gone; `everything`: as if the index knew none."""
        # Before the files are looked at: what is made meanwhile would else seem to be gone.
        known = await asyncio.to_thread(self._known)
        new, unnamed = [], []
        for pattern in (ENTITIES, MENTIONS):
            for path, modified, size in await self._files.scan(pattern):
                if path.rpartition("/")[2].startswith("."):
                    continue
                if not _is_text(path):
                    unnamed.append(path.encode(errors="backslashreplace").decode())
                elif known.pop(path, None) != (modified, size) or everything:
                    new.append(Status(path, modified, size))
        self.unnamed = unnamed
        return new, sorted(known)

    async def run(self, new: list[Status], gone: list[str]) -> AsyncIterator[dict[str, int]]:
        """Bring the index up to date, and yield the progress after each part."""
        self.running, self.done, self.total = True, 0, len(new)
        try:
            async with self.lock:
                await self._drop(gone)
            for part in _batches(new):
                async with self.lock:
                    await self._take(part)
                self.done += len(part)
                yield {"done": self.done, "total": self.total}
            async with self.lock:
                await self._take_waiting()
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
            await self.retype()
        if any(not path.endswith((".md", ".jsonl", ".yaml")) for path in wanted) or len(wanted) > MANY:
            await self.reconcile()
            return
        async with self.lock:
            known = await asyncio.to_thread(self._known_of, wanted)
            seen = {path: await self._files.stat(path) for path in wanted - {TYPES}}
            await self.take(path for path, status in seen.items() if status is None or status != known.get(path))

    async def take(self, paths: Iterable[str]) -> None:
        """Read some files anew, or forget them; the lock is held by the caller.

        After a change of ours that has to be done whatever their times say: two changes may have the same one.
        """
        seen = {path: await self._files.stat(path) for path in paths}
        await self._drop([path for path, status in seen.items() if status is None])
        await self._take([Status(path, *status) for path, status in seen.items() if status is not None])
        await self._take_waiting()

    async def retype(self) -> None:
        """Give entities the types that Brain/types.yaml has for them now; one that cannot be read changes nothing."""
        kinds = await self._types.all()
        if self._types.problem is None:
            async with self.lock:
                await asyncio.to_thread(self._retype, kinds)

    async def _drop(self, paths: list[str]) -> None:
        """Forget files that are gone."""
        gone = [path for path in paths if await self._files.stat(path) is None]
        if gone:
            await asyncio.to_thread(self._forget, gone)

    async def _take_waiting(self) -> None:
        """Read files that were put aside since another one had their id, if none has it any more."""
        waiting = await asyncio.to_thread(self._waiting)
        seen = {path: await self._files.stat(path) for path in waiting}
        await self._take([Status(path, *status) for path, status in seen.items() if status is not None])

    async def _take(self, statuses: list[Status]) -> None:
        if not statuses:
            return
        found = await asyncio.gather(*map(self._content, statuses))
        await asyncio.to_thread(_parse_all, found)
        for entry in found:
            if entry.entity is not None and not await self._is_copy(entry) and not entry.entity.para_id:
                await self._identify(entry)
        await self._put_aside(found)
        kinds = await self._types.all()
        for entry in found:
            if entry.entity is not None:
                entry.type = type_of(kinds, entry.entity.type, folder_of(entry.status.path))
        await asyncio.to_thread(self._store, found)

    async def _content(self, status: Status) -> _Read:
        if status.path.endswith(".md") and status.size > LARGEST:
            return _Read(status, problem=f"it is larger than {LARGEST:,} bytes")
        try:
            return _Read(status, await self._files.read_bytes(status.path))
        except ParachuteError as error:
            return _Read(status, problem=error.message)

    async def _is_copy(self, entry: _Read) -> bool:
        """Put a copy aside that another program has left beside the file, as long as that is there."""
        original = original_of(entry.status.path)
        if entry.entity is None or original is None or await self._files.stat(original) is None:
            return False
        # Read again when that has gone, also one without an id.
        entry.claimed, entry.entity = entry.entity.para_id or original, None
        entry.problem = (
            f"two devices changed {original} at the same time: compare this copy with it, and delete the copy then"
        )
        return True

    async def _identify(self, entry: _Read) -> None:
        """Write an id into a file that has none, unless somebody changes it at this moment."""
        assert entry.entity is not None
        try:
            data = entry.entity.identified(await asyncio.to_thread(self._id_of, entry.status.path))
            if not await self._files.replace(entry.status.path, data, entry.data):
                entry.entity, entry.problem = None, "it is being changed"
                entry.status = replace(entry.status, modified=0)
                return
        except (ParachuteError, Unreadable) as error:
            entry.entity, entry.problem = None, f"no para_id can be written into it: {error}"
            return
        status = await self._files.stat(entry.status.path)
        entry.status = Status(entry.status.path, *(status or (0, 0)))
        entry.entity = read(entry.status.path, data)

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

    def _id_of(self, path: str) -> str:
        """The id that a file had while it could not be read whole, or a new one."""
        with self._database.read() as connection:
            row = connection.execute(
                "SELECT para_id FROM entities JOIN files USING (path) WHERE path = ? AND problem IS NOT NULL", (path,)
            ).fetchone()
        return self._new_id() if row is None else str(row["para_id"])

    def _known(self) -> dict[str, tuple[int, int]]:
        with self._database.read() as connection:
            rows = connection.execute("SELECT path, modified, size FROM files")
            return {row["path"]: (row["modified"], row["size"]) for row in rows}

    def _known_of(self, paths: Iterable[str]) -> dict[str, tuple[int, int]]:
        with self._database.read() as connection:
            rows = [connection.execute("SELECT * FROM files WHERE path = ?", (path,)).fetchone() for path in paths]
        return {row["path"]: (row["modified"], row["size"]) for row in rows if row is not None}

    def _retype(self, kinds: dict[str, Kind]) -> None:
        with self._database.read() as connection:
            rows = connection.execute("SELECT DISTINCT written, folder, type FROM entities").fetchall()
        new = [(type_of(kinds, row["written"], row["folder"]), row) for row in rows]
        with self._database.write() as connection:
            connection.executemany(
                "UPDATE entities SET type = ? WHERE written = ? AND folder = ?",
                [(type_, row["written"], row["folder"]) for type_, row in new if type_ != row["type"]],
            )

    def _waiting(self) -> list[str]:
        with self._database.read() as connection:
            rows = connection.execute(
                "SELECT path FROM files WHERE claimed != '' AND NOT EXISTS"
                " (SELECT 1 FROM entities WHERE para_id = claimed)"
            )
            return [row["path"] for row in rows]

    def _owner(self, para_id: str, path: str) -> str | None:
        with self._database.read() as connection:
            row = connection.execute(
                "SELECT path FROM entities WHERE para_id = ? AND path != ?", (para_id, path)
            ).fetchone()
        return None if row is None else row["path"]

    def _forget(self, paths: list[str]) -> None:
        with self._database.write() as connection:
            for path in paths:
                index.drop(connection, path)

    def _store(self, found: list[_Read]) -> None:
        with self._database.write() as connection:
            for entry in found:
                status = entry.status
                if entry.entity is not None:
                    self._note_new(connection, entry.entity)
                    index.put(connection, entry.entity, entry.type)
                elif status.path.endswith(".md"):
                    index.drop_entity(connection, status.path)
                elif entry.problem is None:
                    index.put_mentions(connection, status.path, entry.mentions)
                index.note_file(connection, status.path, status.modified, status.size, entry.problem, entry.claimed)

    def _note_new(self, connection: sqlite3.Connection, entity: Entity) -> None:
        row = connection.execute("SELECT 1 FROM entities WHERE para_id = ?", (entity.para_id,)).fetchone()
        if row is None and len(self.created) < _MOST_CREATED:
            self.created[entity.para_id] = [entity.name, *entity.aliases]


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


def _parse_all(found: list[_Read]) -> None:
    for entry in found:
        if entry.problem is not None:
            continue
        if not entry.status.path.endswith(".md"):
            entry.mentions = tuple(mentions.parse(entry.data))
            continue
        try:
            entry.entity = read(entry.status.path, entry.data)
            entry.problem = entry.entity.problem or None
        except Unreadable as error:
            entry.problem = str(error)


def _is_text(path: str) -> bool:
    try:
        path.encode()
    except UnicodeEncodeError:
        return False
    return True


def _is_ours(path: str) -> bool:
    if path.rpartition("/")[2].startswith(".") or not _is_text(path):
        return False
    inside = path.startswith((f"{ROOT}/", f"{mentions.FOLDER}/"))
    return path == TYPES or path in ("Brain", ROOT, mentions.FOLDER) or inside
