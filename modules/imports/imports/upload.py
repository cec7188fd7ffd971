"""An export as it was uploaded: in parts, since a module's process may write no file of more than a gigabyte."""

import asyncio
import bisect
import io
import shutil
from collections.abc import AsyncIterator
from itertools import accumulate
from pathlib import Path
from typing import Any, BinaryIO

from parachute.core import InvalidInput, Unavailable

_PART = 512 * 1024 * 1024
_HELD = 4 * 1024 * 1024
_SPARE = 512 * 1024 * 1024
"""Bytes that an import leaves free: the owner goes on writing."""


class Upload:
    """The parts in a folder, which are read as one file."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @property
    def parts(self) -> list[Path]:
        return sorted(self.folder.glob("part-*"))

    @property
    def size(self) -> int:
        """Bytes of all parts."""
        return sum(part.stat().st_size for part in self.parts)

    def open(self) -> BinaryIO:
        """Open all of it for reading."""
        return io.BufferedReader(_Joined(self.parts), 256 * 1024)

    async def receive(self, chunks: AsyncIterator[bytes]) -> None:
        """Write what comes, in large pieces, as long as there is room; errors: DiskFull, OSError, InvalidInput if nothing comes."""
        await asyncio.to_thread(self.folder.mkdir, parents=True)
        held, size = bytearray(), 0
        async for chunk in chunks:
            held += chunk
            if len(held) >= _HELD:
                await asyncio.to_thread(self.write, size, bytes(held))
                size += len(held)
                held.clear()
        if held:
            await asyncio.to_thread(self.write, size, bytes(held))
        elif not size:
            raise InvalidInput("The export is empty.", key="import_empty")

    def check_room(self, size: int) -> None:
        """See that there is room for so many bytes; error: DiskFull."""
        free = shutil.disk_usage(self.folder.parent).free
        if free < size + _SPARE:
            raise Unavailable(
                f"The import needs about {size // 1024**2:,} MB, and the disk has {free // 1024**2:,} MB left.",
                "Free some space on it, and try again.",
                status=507,
                key="disk_full",
            )

    def remove(self) -> None:
        """Remove it."""
        shutil.rmtree(self.folder, ignore_errors=True)

    def write(self, place: int, data: bytes) -> None:
        """Write what stands at a place behind everything that was written; error: DiskFull."""
        self.check_room(0)  # how much comes nobody need have said before
        with (self.folder / f"part-{place // _PART:04}").open("ab") as file:
            file.write(data)


class _Joined(io.RawIOBase):
    """Several files as one, for reading."""

    def __init__(self, paths: list[Path]) -> None:
        self._files = [path.open("rb", buffering=0) for path in paths]
        self._ends = list(accumulate(path.stat().st_size for path in paths))
        self._place = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET, /) -> int:
        start = {io.SEEK_SET: 0, io.SEEK_CUR: self._place, io.SEEK_END: self._ends[-1] if self._ends else 0}[whence]
        if start + offset < 0:
            raise OSError("negative place")  # as every file says it
        self._place = start + offset
        return self._place

    def readinto(self, buffer: Any, /) -> int:
        number = bisect.bisect_right(self._ends, self._place)
        if number == len(self._files):
            return 0
        self._files[number].seek(self._place - (self._ends[number - 1] if number else 0))
        count = self._files[number].readinto(buffer)
        self._place += count
        return int(count)

    def close(self) -> None:
        for file in self._files:
            file.close()
        super().close()
