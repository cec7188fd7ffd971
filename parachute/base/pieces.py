"""Contents that arrive in pieces, over many requests, restarts and crashes; each is taken when all of it is there and has its hash."""

import asyncio
import fcntl
import hashlib
import os
import re
import stat
from collections.abc import AsyncIterator, Callable
from pathlib import PurePath
from typing import BinaryIO, Self

from msgspec import Struct

from parachute.base.clock import SYSTEM, Clock
from parachute.base.disk_errors import DiskFull, disk_error
from parachute.base.errors import Conflict, InvalidInput, Unavailable
from parachute.base.folders import Folder

LARGEST_PIECE = 1024 * 1024
"""Bytes of one piece, which is held in memory until it is there as a whole."""

LARGEST = 512 * 1024 * 1024
_MOST = 200
"""Contents that are not complete at one time."""

_KEPT_SECONDS = 14 * 24 * 60 * 60
"""Seconds without a new piece after which a content is not waited for; a device that still has it begins anew."""

_RESERVE = 64 << 20
"""Bytes of the disk that stay free: databases of this computer and journals have to be written all the same."""

_BLOCK = 1 << 20
_KEY = re.compile(r"[0-9a-f]{16,64}")
HASH = re.compile(r"[0-9a-f]{64}")
_NAME = re.compile(rf"{_KEY.pattern}-{HASH.pattern}")


class Announced(Struct, frozen=True):
    """A content as its sender announces it with each piece."""

    key: str
    size: int
    sha256: str

    @classmethod
    def read(cls, key: str, size: int, sha256: str) -> Self:
        """Check what a request says; error: InvalidInput."""
        if not _KEY.fullmatch(key):
            raise InvalidInput("key: 16 to 64 digits and letters from a to f are expected.", key="invalid_key")
        if not HASH.fullmatch(sha256):
            raise InvalidInput("sha256: the 64 digits of the SHA-256 of the whole are expected.", key="invalid_hash")
        if size < 1:
            raise InvalidInput("size: there is nothing to send.", key="file_empty")
        if size > LARGEST:
            raise InvalidInput(f"size: 1 to {LARGEST:,} bytes are allowed.", key="file_too_large", status=413)
        return cls(key, size, sha256)

    @property
    def name(self) -> str:
        """Its name until it is complete; two contents with one key do not get into each other's way."""
        return f"{self.key}-{self.sha256}"


class Pieces:
    """Contents that are not complete, in a folder of their own, which `folder` opens. Errors of all methods: ParachuteError, OSError."""

    def __init__(self, folder: Callable[[], Folder], clock: Clock = SYSTEM) -> None:
        self._folder = folder
        self._clock = clock

    async def offset(self, announced: Announced) -> int:
        """Count the bytes that are there."""
        return await asyncio.to_thread(self._offset, announced)

    async def add(self, announced: Announced, offset: int, chunks: AsyncIterator[bytes]) -> int:
        """Add a piece, which is on the disk then, and count the bytes that are there; what breaks off in between changes nothing.

        Nothing is added at the end of what was complete when its server died. Errors: Conflict for another offset than the one of now, InvalidInput, DiskFull.
        """
        piece = bytearray()
        async for chunk in chunks:
            piece += chunk
            if len(piece) > LARGEST_PIECE:
                raise InvalidInput(
                    f"body: a piece may have {LARGEST_PIECE:,} bytes at the most.", key="piece_too_large", status=413
                )
        if not piece and offset == announced.size:
            if (there := await self.offset(announced)) != offset:
                raise _wrong(offset, there)  # another sender had it taken meanwhile
            return offset
        if offset < 0 or not piece or offset + len(piece) > announced.size:
            raise InvalidInput(
                "offset: the piece does not lie within the size that was announced.", key="piece_outside"
            )
        return await asyncio.to_thread(self._add, announced, offset, bytes(piece))

    async def check(self, announced: Announced) -> None:
        """Compare what is complete with its hash; what has another one is removed. Error: InvalidInput."""
        await asyncio.to_thread(self._check, announced)

    async def drop(self, announced: Announced) -> None:
        """Forget what is there of it."""
        await asyncio.to_thread(self._drop, announced)

    def _offset(self, announced: Announced) -> int:
        with self._folder() as folder:
            status = folder.status(announced.name)
            return min(status.st_size, announced.size) if status and stat.S_ISREG(status.st_mode) else 0

    def _add(self, announced: Announced, offset: int, piece: bytes) -> int:
        with self._folder() as folder:
            try:
                if offset == 0:
                    self._clear(folder)
                disk = os.fstatvfs(folder.fileno())
                if disk.f_bavail * disk.f_frsize < announced.size - offset + _RESERVE:
                    raise DiskFull("The disk has no room for this file.", "Free some space on it, and try again.")
                try:
                    file = folder.descriptor(announced.name, os.O_WRONLY | (os.O_CREAT if offset == 0 else 0), 0o666)
                except FileNotFoundError:
                    raise _wrong(offset, 0) from None
                try:
                    _append(file, offset, piece)
                finally:
                    os.close(file)
                if offset == 0:
                    folder.sync()
            except OSError as error:
                # What is there stays: the device goes on from there.
                raise disk_error(error, PurePath("a recording")) or error from error
        return offset + len(piece)

    def _check(self, announced: Announced) -> None:
        with self._folder() as folder:
            with folder.file(announced.name) as file:
                if hash_of(file) == announced.sha256:
                    return
            folder.remove(announced.name)
        raise InvalidInput(
            "sha256: what arrived has another hash.", "Send it once more from its beginning.", key="wrong_hash"
        )

    def _drop(self, announced: Announced) -> None:
        with self._folder() as folder:
            folder.remove(announced.name)

    def _clear(self, folder: Folder) -> None:
        """Remove what nobody has continued, and refuse one more when there are too many; error: Unavailable."""
        oldest = self._clock.now().timestamp() - _KEPT_SECONDS
        count = 0
        for entry in list(folder.entries()):
            if not _NAME.fullmatch(entry.name):
                continue
            if entry.stat(follow_symlinks=False).st_mtime < oldest:
                folder.remove(entry.name)
            else:
                count += 1
        if count >= _MOST:
            raise Unavailable(
                f"{_MOST} recordings have begun to arrive and are not complete.",
                "Let their devices send the rest, or try again later.",
                key="too_many_uploads",
            )


def hash_of(file: BinaryIO) -> str:
    """Read a file to its end, and return its SHA-256."""
    digest = hashlib.sha256()
    while block := file.read(_BLOCK):
        digest.update(block)
    return digest.hexdigest()


def _append(file: int, offset: int, piece: bytes) -> None:
    """Write a piece behind what is there, whole or not at all; errors: Conflict, OSError."""
    # Another request of the same device, or a process that is about to end, may write as well.
    fcntl.flock(file, fcntl.LOCK_EX)
    there = os.fstat(file).st_size
    if there != offset:
        raise _wrong(offset, there)
    view = memoryview(piece)
    try:
        while view:
            view = view[os.pwrite(file, view, offset + len(piece) - len(view)) :]
        os.fsync(file)
    except OSError:
        os.ftruncate(file, offset)
        raise


def _wrong(offset: int, there: int) -> Conflict:
    return Conflict(
        f"offset: {there:,} bytes are here, and the piece begins at {offset:,}.",
        "Ask how much is here, and go on from there.",
        key="wrong_offset",
    )
