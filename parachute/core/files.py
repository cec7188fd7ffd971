"""Files of the vault, as far as the manifest's permissions go."""

import asyncio
import errno
import os
import stat
from collections.abc import AsyncIterator, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from operator import itemgetter
from pathlib import Path, PurePath
from typing import BinaryIO, Literal

from parachute.base.disk_errors import disk_error
from parachute.base.errors import InvalidInput, NotAllowed, NotFound, Unavailable
from parachute.base.folders import Folder, TooMany
from parachute.base.open_in_thread import open_in_thread
from parachute.base.pieces import Pieces
from parachute.base.replacing import Replacement
from parachute.core.patterns import Pattern, matches_any, parts_of

LARGEST_READ = 64 * 1024 * 1024
LARGEST_STREAM = 1024 * 1024 * 1024
MOST_ENTRIES = 200_000

_PIECE = 256 * 1024
_DEEPEST = 200


@dataclass(frozen=True, slots=True)
class FileEntry:
    """A file or folder; `path` is within the vault, `modified` in seconds since 1970."""

    path: str
    name: str
    kind: Literal["file", "folder"]
    size: int
    modified: float


# Inside of the class below, `list` is a method.
FileEntries = list[FileEntry]
Paths = list[str]
Scanned = list[tuple[str, int, int]]
Mark = tuple[int, int, int, int]
Marked = list[tuple[str, Mark]]
_Statuses = list[tuple[str, os.stat_result]]


class Files:
    """Paths are relative to the vault. No link is followed in any part of a path, so that none can lead out of it."""

    def __init__(self, vault: Path, read: Iterable[str] = (), write: Iterable[str] = ()) -> None:
        self._vault = vault
        self._write = tuple(Pattern.parse(text, "write") for text in write)
        self._read = (*(Pattern.parse(text, "read") for text in read), *self._write)

    async def read(self, path: str) -> str:
        """A text file in UTF-8; errors: NotFound, NotAllowed, InvalidInput."""
        data = await self.read_bytes(path)
        try:
            return data.decode()
        except UnicodeDecodeError as error:
            raise InvalidInput(f"path: {path} is not a text in UTF-8.", "Use read_bytes.", key="not_text") from error

    async def read_bytes(self, path: str) -> bytes:
        """The content of a file of up to 64 MiB; errors: NotFound, NotAllowed, InvalidInput."""
        return await asyncio.to_thread(self._read_bytes, self._allowed(path, self._read, "read"))

    async def write(self, path: str, content: str | bytes) -> None:
        """Replace or make a file, folders on the way included; a reader sees the old content or the new one."""
        data = content.encode() if isinstance(content, str) else content
        await asyncio.to_thread(self._write_bytes, self._allowed(path, self._write, "write"), data)

    async def replace(self, path: str, content: str | bytes, expected: bytes | None) -> bool:
        """Write only if the file still has the expected content (None: does not exist); whether it was written.

        It is compared at the last moment before the new file takes its place: what others wrote meanwhile is not lost.
        """
        data = content.encode() if isinstance(content, str) else content
        return await asyncio.to_thread(self._write_bytes, self._allowed(path, self._write, "write"), data, expected)

    async def write_stream(self, path: str, chunks: AsyncIterator[bytes], largest: int = LARGEST_STREAM) -> int:
        """Replace or make a file from pieces, without holding it in memory; its size. Error: InvalidInput above `largest`."""
        parts = self._allowed(path, self._write, "write")
        replacement = await asyncio.to_thread(self._replacement, parts)
        size = 0
        try:
            async for chunk in chunks:
                size += len(chunk)
                if size > largest:
                    raise InvalidInput(f"path: {path} would be larger than {largest:,} bytes.", key="file_too_large")
                with said(parts):
                    await asyncio.to_thread(replacement.write, chunk)
            with said(parts):
                await asyncio.to_thread(replacement.commit)
        except BaseException:
            replacement.abandon()
            raise
        return size

    def pieces(self, folder: str) -> Pieces:
        """Contents that arrive in pieces, in a folder of their own, until `rename` gives each its place; error: NotAllowed."""
        parts = self._allowed(f"{folder}/content", self._write, "write")[:-1]
        return Pieces(lambda: self._opened_folder(parts))

    async def read_stream(self, path: str, start: int = 0, length: int | None = None) -> AsyncIterator[bytes]:
        """A file of any size in pieces, or `length` bytes of it from `start` on; errors: NotFound, NotAllowed, InvalidInput."""
        parts = self._allowed(path, self._read, "read")
        file = await open_in_thread(partial(self._opened, parts), BinaryIO.close)
        try:
            if start:
                file.seek(start)
            while length is None or length > 0:
                chunk = await asyncio.to_thread(file.read, _PIECE if length is None else min(_PIECE, length))
                if not chunk:
                    return
                length = None if length is None else length - len(chunk)
                yield chunk
        finally:
            file.close()

    async def delete(self, path: str) -> None:
        """Remove a file; errors: NotFound, NotAllowed."""
        await asyncio.to_thread(self._delete, self._allowed(path, self._write, "write"))

    async def rename(self, path: str, new_path: str, *, replacing: bool = True) -> bool:
        """Move a file, and answer whether that was done: not `replacing`, it stays if there is anything. Errors: NotFound, NotAllowed."""
        source = self._allowed(path, self._write, "write")
        target = self._allowed(new_path, self._write, "write")
        return await asyncio.to_thread(self._rename, source, target, replacing)

    async def exists(self, path: str) -> bool:
        """True if there is a file or folder; error: NotAllowed."""
        parts = parts_of(path)
        if not any(pattern.matches(parts) or pattern.reaches(parts) for pattern in self._read):
            raise self._refusal(path, "read")
        return await asyncio.to_thread(self._exists, parts)

    async def list(self, folder: str = "") -> FileEntries:
        """Entries of a folder that the module may see, by name; errors: NotFound, NotAllowed."""
        parts = parts_of(folder)
        if not any(pattern.reaches(parts) for pattern in self._read):
            raise self._refusal(folder, "read")
        return await asyncio.to_thread(self._list, parts)

    async def glob(self, pattern: str) -> Paths:
        """Paths of all files that match and may be read, in order; `**` stands for any number of folders."""
        return await asyncio.to_thread(self._glob, Pattern.parse(pattern))

    async def scan(self, pattern: str) -> Scanned:
        """Path, time of the last change in nanoseconds since 1970, and size of every file that matches, in order."""
        found = await asyncio.to_thread(self._scan, Pattern.parse(pattern))
        return [(path, status.st_mtime_ns, status.st_size) for path, status in found]

    async def marks(self, pattern: str) -> Marked:
        """Path and mark of every file that matches, in order: no change of a file leaves its mark as it was.

        It is the times of the last change of the content and of the file itself, in nanoseconds since 1970, its number and size.
        """
        found = await asyncio.to_thread(self._scan, Pattern.parse(pattern))
        return [(path, (each.st_mtime_ns, each.st_ctime_ns, each.st_ino, each.st_size)) for path, each in found]

    async def stat(self, path: str) -> tuple[int, int] | None:
        """Time of the last change in nanoseconds and size of one file, None if there is none; error: NotAllowed."""
        return await asyncio.to_thread(self._stat, self._allowed(path, self._read, "read"))

    def _allowed(self, path: str, patterns: tuple[Pattern, ...], what: str) -> tuple[str, ...]:
        parts = parts_of(path)
        if not parts:
            raise InvalidInput("path: a file is expected, not the vault itself.", key="vault_itself")
        if not matches_any(patterns, parts):
            raise self._refusal(path, what)
        return parts

    def _refusal(self, path: str, what: str) -> NotAllowed:
        return NotAllowed(
            f"path: this module may not {what} {path[:200]!r}.",
            f"Add it to permissions.{what} in manifest.yaml.",
            key="path_not_allowed",
        )

    def _read_bytes(self, parts: tuple[str, ...]) -> bytes:
        with self._opened(parts) as file, said(parts):
            # Not the limit itself: as much memory would be taken at once, whatever the file holds.
            data = file.read(min(os.fstat(file.fileno()).st_size, LARGEST_READ) + 1)
            while len(data) <= LARGEST_READ and (more := file.read(_PIECE)):
                data += more
        if len(data) > LARGEST_READ:
            raise InvalidInput(f"path: {'/'.join(parts)} is larger than {LARGEST_READ:,} bytes.", key="file_too_large")
        return data

    def _opened(self, parts: tuple[str, ...]) -> BinaryIO:
        with said(parts), Folder.open(self._vault) as vault:
            return vault.file("/".join(parts))

    def _write_bytes(
        self, parts: tuple[str, ...], data: bytes, expected: bytes | Literal["anything"] | None = "anything"
    ) -> bool:
        replacement = self._replacement(parts)
        with said(parts):
            try:
                replacement.write(data)
                return replacement.commit(expected)
            except BaseException:
                replacement.abandon()
                raise

    def _replacement(self, parts: tuple[str, ...]) -> Replacement:
        with self._folder(parts[:-1], make=True) as folder, said(parts):
            return folder.replacement(parts[-1])

    def _delete(self, parts: tuple[str, ...]) -> None:
        with self._folder(parts[:-1]) as folder, said(parts):
            if folder.status(parts[-1]) is None:
                raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))
            folder.remove(parts[-1])

    def _rename(self, source: tuple[str, ...], target: tuple[str, ...], replacing: bool) -> bool:
        with self._folder(source[:-1]) as old, self._folder(target[:-1], make=True) as new, said(source):
            status = old.status(source[-1])
            if status is not None and not stat.S_ISREG(status.st_mode):
                raise InvalidInput(f"path: {'/'.join(source)} is not a file.", key="not_a_file")
            if not old.rename(source[-1], new, target[-1], replacing=replacing):
                return False
            new.sync()
            return True

    def _exists(self, parts: tuple[str, ...]) -> bool:
        status = self._status(parts)
        return status is not None and (stat.S_ISREG(status.st_mode) or stat.S_ISDIR(status.st_mode))

    def _stat(self, parts: tuple[str, ...]) -> tuple[int, int] | None:
        status = self._status(parts)
        return (status.st_mtime_ns, status.st_size) if status and stat.S_ISREG(status.st_mode) else None

    def _status(self, parts: tuple[str, ...]) -> os.stat_result | None:
        try:
            with Folder.open(self._vault) as vault:
                return vault.status("/".join(parts))
        except (OSError, InvalidInput):
            return None

    def _list(self, parts: tuple[str, ...]) -> FileEntries:
        with self._folder(parts) as folder, said(parts):
            return [
                _entry((*parts, name), status)
                for name, status in sorted(self._entries(parts, folder.entries()), key=itemgetter(0))
            ]

    def _glob(self, wanted: Pattern) -> Paths:
        return [path for path, _ in self._scan(wanted)]

    def _scan(self, wanted: Pattern) -> _Statuses:
        found: _Statuses = []
        first = wanted.literal[:-1] if wanted.is_literal else wanted.literal
        if not wanted.reaches(first) or not any(pattern.reaches(first) for pattern in self._read):
            return found
        try:
            with self._folder(first) as folder:
                for place, _, entries in folder.walk(deepest=_DEEPEST, most=MOST_ENTRIES, unreadable=_passed_over):
                    parts = (*first, *place.split("/")) if place else first
                    matches = wanted.names(parts)
                    prefix = "".join(f"{part}/" for part in parts)
                    folders = set()
                    for name, status in self._entries(parts, entries):
                        if not stat.S_ISDIR(status.st_mode):
                            if matches(name):
                                found.append((prefix + name, status))
                        elif wanted.reaches((*parts, name)):
                            folders.add(name)
                    entries[:] = [entry for entry in entries if entry.name in folders]
        except TooMany as error:
            raise InvalidInput(
                f"pattern: more than {MOST_ENTRIES:,} files would have to be searched.", key=error.key
            ) from error
        except (NotFound, NotAllowed, InvalidInput, Unavailable):
            pass  # gone meanwhile, or a link
        return sorted(found, key=itemgetter(0))

    def _entries(
        self, parts: tuple[str, ...], entries: Iterable["os.DirEntry[str]"]
    ) -> Iterator[tuple[str, os.stat_result]]:
        """Names of files and folders that the module may see, without links."""
        readable = [pattern.names(parts) for pattern in self._read if pattern.reaches(parts)]
        may_read = readable[0] if len(readable) == 1 else lambda name: any(test(name) for test in readable)
        for entry in entries:
            try:
                status = entry.stat(follow_symlinks=False)
            except (FileNotFoundError, PermissionError):
                continue  # gone meanwhile, or closed to us
            if stat.S_ISDIR(status.st_mode):
                if any(pattern.reaches((*parts, entry.name)) for pattern in self._read):
                    yield entry.name, status
            elif stat.S_ISREG(status.st_mode) and may_read(entry.name):
                yield entry.name, status

    def _opened_folder(self, parts: tuple[str, ...]) -> Folder:
        with said(parts), Folder.open(self._vault) as vault:
            return vault.folder("/".join(parts), make=True, mode=0o777)

    @contextmanager
    def _folder(self, parts: tuple[str, ...], make: bool = False) -> Iterator[Folder]:
        with said(parts), Folder.open(self._vault) as vault:
            folder = vault.folder("/".join(parts), make=make, mode=0o777)
        with folder:
            yield folder


def _passed_over(path: str, error: OSError) -> None:
    """A folder that is gone meanwhile, a link now, or deeper than anybody made it for people."""


def _entry(parts: tuple[str, ...], status: os.stat_result) -> FileEntry:
    kind: Literal["file", "folder"] = "folder" if stat.S_ISDIR(status.st_mode) else "file"
    return FileEntry("/".join(parts), parts[-1], kind, status.st_size, status.st_mtime)


@contextmanager
def said(parts: tuple[str, ...]) -> Iterator[None]:
    """Turn errors of the system about a path into our own."""
    path = "/".join(parts) or "the vault"
    try:
        yield
    except FileNotFoundError as error:
        raise NotFound(f"path: {path} does not exist.", key="path_not_found") from error
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.ENOTDIR, errno.EISDIR, errno.ENXIO):
            raise InvalidInput(
                f"path: {path} is a link, or not what is expected there: {error.strerror}.", key="not_as_expected"
            ) from error
        if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EROFS) and (known := disk_error(error, PurePath(path))):
            raise known from error
        if error.errno in (errno.EACCES, errno.EPERM):
            raise NotAllowed(
                f"path: the system does not allow {path}: {error.strerror}.", key="system_refuses"
            ) from error
        if error.errno in (errno.ENAMETOOLONG, errno.EINVAL):
            raise InvalidInput(
                f"path: {path[:80]} is no possible name: {error.strerror}.", key="invalid_name"
            ) from error
        raise Unavailable(f"path: {path} cannot be used: {error.strerror}.", key="path_unusable") from error
