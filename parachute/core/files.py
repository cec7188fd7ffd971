"""Files of the vault, as far as the manifest's permissions go."""

import asyncio
import errno
import os
import secrets
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from parachute.core.patterns import Pattern, matches_any, parts_of
from parachute.errors import InvalidInput, NotAllowed, NotFound, ParachuteError, Unavailable

LARGEST_READ = 64 * 1024 * 1024
MOST_ENTRIES = 100_000

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


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
            raise InvalidInput(f"path: {path} is not a text in UTF-8.", "Use read_bytes.") from error

    async def read_bytes(self, path: str) -> bytes:
        """The content of a file of up to 64 MiB; errors: NotFound, NotAllowed, InvalidInput."""
        return await asyncio.to_thread(self._read_bytes, self._allowed(path, self._read, "read"))

    async def write(self, path: str, content: str | bytes) -> None:
        """Replace or make a file, folders on the way included; a reader sees the old content or the new one."""
        data = content.encode() if isinstance(content, str) else content
        await asyncio.to_thread(self._write_bytes, self._allowed(path, self._write, "write"), data)

    async def delete(self, path: str) -> None:
        """Remove a file; errors: NotFound, NotAllowed."""
        await asyncio.to_thread(self._delete, self._allowed(path, self._write, "write"))

    async def rename(self, path: str, new_path: str) -> None:
        """Move a file, replacing what is there; errors: NotFound, NotAllowed."""
        source = self._allowed(path, self._write, "write")
        await asyncio.to_thread(self._rename, source, self._allowed(new_path, self._write, "write"))

    async def exists(self, path: str) -> bool:
        """Whether there is a file or folder; error: NotAllowed."""
        parts = parts_of(path)
        if not any(pattern.matches(parts) or pattern.reaches(parts) for pattern in self._read):
            raise self._refusal(path, "read")
        return await asyncio.to_thread(self._exists, parts)

    async def list(self, folder: str = "") -> FileEntries:
        """What a folder holds and the module may see, by name; errors: NotFound, NotAllowed."""
        parts = parts_of(folder)
        if not any(pattern.reaches(parts) for pattern in self._read):
            raise self._refusal(folder, "read")
        return await asyncio.to_thread(self._list, parts)

    async def glob(self, pattern: str) -> Paths:
        """Paths of all files that match and may be read, in order; `**` stands for any number of folders."""
        return await asyncio.to_thread(self._glob, Pattern.parse(pattern))

    def _allowed(self, path: str, patterns: tuple[Pattern, ...], what: str) -> tuple[str, ...]:
        parts = parts_of(path)
        if not parts:
            raise InvalidInput("path: a file is expected, not the vault itself.")
        if not matches_any(patterns, parts):
            raise self._refusal(path, what)
        return parts

    def _refusal(self, path: str, what: str) -> NotAllowed:
        return NotAllowed(
            f"path: this module may not {what} {path[:200]!r}.", f"Add it to permissions.{what} in manifest.yaml."
        )

    def _read_bytes(self, parts: tuple[str, ...]) -> bytes:
        # O_NONBLOCK: opening a named pipe would wait for its writer.
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        with self._folder(parts[:-1]) as folder, _said(parts):
            descriptor = os.open(parts[-1], flags, dir_fd=folder)
            with os.fdopen(descriptor, "rb") as file:
                if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                    raise InvalidInput(f"path: {'/'.join(parts)} is not a file.")
                data = file.read(LARGEST_READ + 1)
        if len(data) > LARGEST_READ:
            raise InvalidInput(f"path: {'/'.join(parts)} is larger than {LARGEST_READ:,} bytes.")
        return data

    def _write_bytes(self, parts: tuple[str, ...], data: bytes) -> None:
        name = parts[-1]
        temporary = f".{name[:100]}.{secrets.token_hex(6)}"
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        with self._folder(parts[:-1], make=True) as folder, _said(parts):
            mode = _mode(name, folder)
            descriptor = os.open(temporary, flags, 0o666 if mode is None else 0o600, dir_fd=folder)
            try:
                with os.fdopen(descriptor, "wb") as file:
                    if mode is not None:
                        os.fchmod(descriptor, mode)
                    file.write(data)
                    file.flush()
                    os.fsync(descriptor)
                os.rename(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)
            except BaseException:
                os.unlink(temporary, dir_fd=folder)
                raise
            # Without a sync of the folder a power cut may bring the old name back.
            os.fsync(folder)

    def _delete(self, parts: tuple[str, ...]) -> None:
        with self._folder(parts[:-1]) as folder, _said(parts):
            os.unlink(parts[-1], dir_fd=folder)

    def _rename(self, source: tuple[str, ...], target: tuple[str, ...]) -> None:
        with self._folder(source[:-1]) as old, self._folder(target[:-1], make=True) as new, _said(source):
            if not stat.S_ISREG(os.stat(source[-1], dir_fd=old, follow_symlinks=False).st_mode):
                raise InvalidInput(f"path: {'/'.join(source)} is not a file.")
            os.rename(source[-1], target[-1], src_dir_fd=old, dst_dir_fd=new)
            os.fsync(new)

    def _exists(self, parts: tuple[str, ...]) -> bool:
        try:
            with self._folder(parts[:-1]) as folder:
                if parts:
                    mode = os.stat(parts[-1], dir_fd=folder, follow_symlinks=False).st_mode
                    return stat.S_ISREG(mode) or stat.S_ISDIR(mode)
                return True
        except (OSError, NotFound, InvalidInput):
            return False

    def _list(self, parts: tuple[str, ...]) -> FileEntries:
        with self._folder(parts) as folder, _said(parts):
            return sorted(self._entries(parts, folder), key=lambda entry: entry.name)

    def _glob(self, wanted: Pattern) -> Paths:
        found: list[str] = []
        looked_at = 0
        waiting: list[tuple[str, ...]] = [wanted.literal[:-1] if wanted.is_literal else wanted.literal]
        while waiting:
            parts = waiting.pop()
            if not wanted.reaches(parts) or not any(pattern.reaches(parts) for pattern in self._read):
                continue
            try:
                with self._folder(parts) as folder:
                    entries = list(self._entries(parts, folder))
            except (OSError, ParachuteError):
                continue  # gone meanwhile, or a link
            looked_at += len(entries)
            if looked_at > MOST_ENTRIES:
                raise InvalidInput(f"pattern: more than {MOST_ENTRIES:,} files would have to be looked at.")
            for entry in entries:
                inside = (*parts, entry.name)
                if entry.kind == "folder":
                    waiting.append(inside)
                elif wanted.matches(inside):
                    found.append(entry.path)
        return sorted(found)

    def _entries(self, parts: tuple[str, ...], folder: int) -> Iterator[FileEntry]:
        with os.scandir(folder) as entries:
            for entry in entries:
                inside = (*parts, entry.name)
                status = entry.stat(follow_symlinks=False)
                if stat.S_ISDIR(status.st_mode):
                    visible, kind = any(pattern.reaches(inside) for pattern in self._read), "folder"
                else:
                    visible, kind = stat.S_ISREG(status.st_mode) and matches_any(self._read, inside), "file"
                if visible:
                    what: Literal["file", "folder"] = "folder" if kind == "folder" else "file"
                    yield FileEntry("/".join(inside), entry.name, what, status.st_size, status.st_mtime)

    @contextmanager
    def _folder(self, parts: tuple[str, ...], make: bool = False) -> Iterator[int]:
        """A descriptor of a folder, reached one real folder after the other."""
        with _said(parts):
            descriptor = os.open(self._vault, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            with _said(parts):
                for part in parts:
                    if make:
                        try:
                            os.mkdir(part, dir_fd=descriptor)
                        except FileExistsError:
                            pass
                        except OSError as error:
                            # A mounted folder reports that the one above it cannot be written, also when it exists.
                            if error.errno != errno.EROFS:
                                raise
                    inner = os.open(part, _FOLDER, dir_fd=descriptor)
                    os.close(descriptor)
                    descriptor = inner
            yield descriptor
        finally:
            os.close(descriptor)


def _mode(name: str, folder: int) -> int | None:
    """The permissions of the file that is about to be replaced."""
    try:
        status = os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return None
    return stat.S_IMODE(status.st_mode) & 0o777 if stat.S_ISREG(status.st_mode) else None


@contextmanager
def _said(parts: tuple[str, ...]) -> Iterator[None]:
    """What the system says about a path, in our errors."""
    path = "/".join(parts) or "the vault"
    try:
        yield
    except FileNotFoundError as error:
        raise NotFound(f"path: {path} does not exist.") from error
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.ENOTDIR, errno.EISDIR, errno.ENXIO):
            raise InvalidInput(f"path: {path} is a link, or not what is expected there: {error.strerror}.") from error
        if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
            raise NotAllowed(f"path: the system does not allow {path}: {error.strerror}.") from error
        if error.errno in (errno.ENAMETOOLONG, errno.EINVAL):
            raise InvalidInput(f"path: {path[:80]} is no possible name: {error.strerror}.") from error
        raise Unavailable(f"path: {path} cannot be used: {error.strerror}.") from error
