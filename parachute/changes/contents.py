"""Contents that came from elsewhere or from runs, by their hash: whoever renames, copies or unpacks one has it from there, too."""

import asyncio
import hashlib
import json
import os
import sqlite3
import stat
import time
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from parachute.base.database import Database
from parachute.base.errors import InvalidInput
from parachute.base.folders import Folder, TooMany
from parachute.base.signatures import Signature, signature_of
from parachute.security.origin import Origin, lowest

_ENTRIES = 200_000
_DEEPEST = 200
_REMEMBERED = 20_000
_CHUNK = 1 << 20

Content = tuple[str, int]
"""The SHA-256 of a content and its size."""

RANK = "CASE {} " + " ".join(f"WHEN '{each}' THEN {rank}" for rank, each in enumerate(Origin)) + " END"
"""SQL for the rank of an origin, the owner's first."""


def m0004_contents(connection: sqlite3.Connection) -> None:
    """The contents; what ran before this is known by its path, and by its hash as far as changes still name it."""
    connection.execute(
        "CREATE TABLE contents (hash TEXT PRIMARY KEY, size INTEGER NOT NULL, origin TEXT NOT NULL) "
        "STRICT, WITHOUT ROWID"
    )
    connection.execute("CREATE INDEX contents_of_origin ON contents (origin, size)")
    connection.execute(
        "INSERT OR IGNORE INTO contents SELECT json_extract(after, '$[2]'), json_extract(after, '$[3]'), origin "  # noqa: S608 - ours
        "FROM entries JOIN sets ON sets.id = entries.number WHERE origin IS NOT NULL "
        "AND json_extract(after, '$[0]') = 'file' AND json_extract(after, '$[3]') > 0 "
        f"ORDER BY {RANK.format('origin')} DESC"
    )


class Contents:
    """Remembers the lowest origin of each content; what has no byte comes from nowhere."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._digests: dict[tuple[int, Signature], str] = {}

    async def came(self, contents: Iterable[Content], origin: Origin) -> None:
        """Note contents of an origin; one that was lower stays."""
        rows = [(digest, size, origin.value) for digest, size in set(contents) if size]
        if rows:
            async with self._database.transaction() as connection:
                await connection.executemany(
                    "INSERT INTO contents VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET origin = excluded.origin "  # noqa: S608
                    f"WHERE {RANK.format('excluded.origin')} > {RANK.format('contents.origin')}",
                    rows,
                )

    async def lowest_of(self, places: Sequence[Path], known: Origin) -> Origin | None:
        """The lowest origin of what is in files at or below these places; None where it is not below what is `known`.

        All that is below a folder is looked at only for what comes from others than agents: nothing depends on the rest.
        """
        lower = [each for each in Origin if each.is_below(known)]
        found: list[Origin] = []
        for are_folders in (False, True):
            some = [each for each in places if each.is_dir() == are_folders]
            wanted = [each for each in lower if not (are_folders and each.may_record)]
            if some and wanted:
                found += await self._lowest_of(some, wanted)
        return lowest(*found) if found else None

    async def _lowest_of(self, places: Sequence[Path], wanted: Sequence[Origin]) -> list[Origin]:
        query = "SELECT DISTINCT origin, size FROM contents WHERE origin IN (SELECT value FROM json_each(?))"
        rows = await self._database.rows(query, (json.dumps(wanted),))
        if not rows:
            return []
        digests = await asyncio.to_thread(self._hashes, places, {size for _, size in rows})
        if digests is None:  # it is too much to look at, and may be any of them
            return [Origin(word) for word in {word for word, _ in rows}]
        return await self.origins_of(digests)

    async def origins_of(self, digests: Iterable[str]) -> list[Origin]:
        """The origins of those of some contents that came from runs or from elsewhere, each once."""
        query = "SELECT DISTINCT origin FROM contents WHERE hash IN (SELECT value FROM json_each(?))"
        return [Origin(word) for (word,) in await self._database.rows(query, (json.dumps(sorted(digests)),))]

    def _hashes(self, places: Sequence[Path], sizes: set[int]) -> set[str] | None:
        """The hashes of the files that have one of these sizes; None where there are too many files."""
        found = set()
        try:
            for place in places:
                for folder, name, status in _files(place):
                    with suppress(OSError, InvalidInput):  # it has gone, or nobody can read it
                        if stat.S_ISREG(status.st_mode) and status.st_size in sizes:
                            found.add(self._hash(folder, name, status))
        except TooMany:
            return None
        return found

    def _hash(self, folder: Folder, name: str, status: os.stat_result) -> str:
        key = status.st_dev, signature_of(status)
        if known := self._digests.get(key):
            return known
        digest = hashlib.sha256()
        with folder.file(name) as file:
            while chunk := file.read(_CHUNK):
                digest.update(chunk)
        if key[1].differs_later(time.time_ns()):
            while len(self._digests) >= _REMEMBERED:
                del self._digests[next(iter(self._digests))]
            self._digests[key] = digest.hexdigest()
        return digest.hexdigest()


def content_of(data: bytes) -> Content:
    """The hash and the size of a content in memory."""
    return hashlib.sha256(data).hexdigest(), len(data)


def unpacked(chunks: Iterable[bytes]) -> Content | None:
    """The file that an object of git holds, as it will be once somebody checks it out; None for other objects."""
    digest, header, size = hashlib.sha256(), b"", 0
    try:
        for data in _inflated(chunks):
            rest = data
            if b"\0" not in header:
                header, _, rest = (header + data).partition(b"\0")
                header += b"\0"
                if not header.startswith(b"blob "):
                    return None
            digest.update(rest)
            size += len(rest)
    except zlib.error:
        return None
    return digest.hexdigest(), size


def _inflated(chunks: Iterable[bytes]) -> Iterator[bytes]:
    inflate = zlib.decompressobj()
    for chunk in chunks:
        left = chunk
        while left:
            if data := inflate.decompress(left, _CHUNK):
                yield data
            left = inflate.unconsumed_tail


def _files(place: Path) -> Iterator[tuple[Folder, str, os.stat_result]]:
    """The files at a place or below it, each with its folder; no link is followed. Error: TooMany."""
    with suppress(OSError), Folder.open(place if place.is_dir() else place.parent) as top:
        if not place.is_dir():
            if status := top.status(place.name):
                yield top, place.name, status
            return
        for _, folder, entries in top.walk(deepest=_DEEPEST, most=_ENTRIES, unreadable=lambda *_: None):
            for entry in entries:
                with suppress(OSError):
                    yield folder, entry.name, entry.stat(follow_symlinks=False)
