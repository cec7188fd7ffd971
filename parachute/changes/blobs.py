"""Contents of files by their hash, in the state directory: what a run replaced, and what waits."""

import hashlib
import os
import secrets
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from msgspec import Struct

from parachute.base.files import private_folder, sync_names
from parachute.base.folders import Folder
from parachute.base.signatures import Signature, signature_of
from parachute.base.syncing import MANY_FILES, sync_file_system

_IN_MEMORY = 64 * 1024
_CHUNK = 1 << 20
_STAGED = "staged."


class TooLarge(Exception):
    """A file is larger than the caller takes."""


class Staged(Struct):
    """A copy of a content that has no name yet: in memory, or in a file that `drop` removes.

    One that `is_movable` becomes the new file itself where it can, instead of being copied once more.
    """

    hash: str
    size: int
    data: bytes | None = None
    path: Path | None = None
    is_kept: bool = False
    is_movable: bool = False

    def chunks(self) -> Iterator[bytes]:
        """Read it."""
        if self.data is not None or self.path is None:
            yield self.data or b""
            return
        with self.path.open("rb") as file:
            yield from iter(lambda: file.read(_CHUNK), b"")

    def drop(self) -> None:
        """Forget it, unless it is kept."""
        if self.path is not None and not self.is_kept:
            self.path.unlink(missing_ok=True)


class Blobs:
    """Contents in one folder, each under its SHA-256. All methods wait for the disk; errors: OSError."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def prepare(self) -> None:
        """Make the folder, and remove what was not finished when the server died."""
        private_folder(self.folder)
        for each in self.folder.glob(f"{_STAGED}*"):
            each.unlink(missing_ok=True)

    def stage_file(self, folder: Folder, path: str, limit: int) -> tuple[Staged, Signature]:
        """Copy a regular file; and the signature that it had. Errors: TooLarge, InvalidInput for no regular file, OSError."""
        with folder.file(path) as file:
            status = os.fstat(file.fileno())
            if status.st_size > limit:
                raise TooLarge
            return self._staged(file, status.st_size, limit), signature_of(status)

    def stage(self, data: bytes) -> Staged:
        """Stage what is in memory."""
        return Staged(hashlib.sha256(data).hexdigest(), len(data), data)

    def keep(self, contents: Iterable[Staged], *, synced: bool = True) -> None:
        """Keep these for good; where `synced`, they are on the disk afterwards."""
        new = [content for content in contents if not content.is_kept]
        made, are_many = False, len(new) > MANY_FILES
        for content in new:
            if self._has_whole(content):
                content.drop()
                content.path, content.is_kept = self.folder / content.hash, True
                continue
            made = True
            if content.path is None:
                content.path = self.folder / f"{_STAGED}{secrets.token_hex(8)}"
                with _new(content.path) as file:
                    file.write(content.data or b"")
            if synced and not are_many:
                with content.path.open("rb") as file:
                    os.fsync(file.fileno())
            content.path.replace(self.folder / content.hash)
            content.path, content.is_kept = self.folder / content.hash, True
        if made and synced:
            self._sync(are_many)

    def adopt(self, path: Path, digest: str, size: int) -> None:
        """Keep a large file of this disk by another name of it, which costs nothing. What is restored from it is compared with the hash."""
        name = self.folder / f"{_STAGED}{secrets.token_hex(8)}"
        name.hardlink_to(path)
        self.keep([Staged(digest, size, None, name)], synced=False)

    def _has_whole(self, content: Staged) -> bool:
        """Return whether it is kept already; a power cut may have left an empty file of the name."""
        try:
            return (self.folder / content.hash).stat().st_size == content.size
        except FileNotFoundError:
            return False

    def _sync(self, are_many: bool) -> None:
        if not are_many:
            sync_names(self.folder)
            return
        with Folder.open(self.folder) as folder:
            sync_file_system(folder.fileno())

    def has(self, digest: str) -> bool:
        """Return whether a content is kept."""
        return (self.folder / digest).exists()

    def kept(self, digest: str) -> Staged:
        """A kept content. Error: FileNotFoundError."""
        path = self.folder / digest
        return Staged(digest, path.stat().st_size, None, path, is_kept=True)

    def read(self, digest: str, limit: int) -> bytes | None:
        """A kept content of at most so many bytes; None if it is not kept, or larger."""
        with suppress(FileNotFoundError):
            path = self.folder / digest
            return path.read_bytes() if path.stat().st_size <= limit else None
        return None

    def remove_all_but(self, wanted: set[str]) -> int:
        """Remove the contents that nothing names any more; how many."""
        gone = [
            each for each in os.scandir(self.folder) if each.name not in wanted and not each.name.startswith(_STAGED)
        ]
        for each in gone:
            Path(each.path).unlink(missing_ok=True)
        return len(gone)

    def sizes(self) -> dict[str, int]:
        """The bytes of each kept content."""
        return {each.name: each.stat().st_size for each in os.scandir(self.folder)}

    def _staged(self, file: BinaryIO, size: int, limit: int) -> Staged:
        digest = hashlib.sha256()
        if size <= _IN_MEMORY and len(data := file.read(_IN_MEMORY + 1)) <= _IN_MEMORY:
            digest.update(data)
            return Staged(digest.hexdigest(), len(data), data)
        file.seek(0)
        path, total = self.folder / f"{_STAGED}{secrets.token_hex(8)}", 0
        try:
            with _new(path) as target:
                while chunk := file.read(_CHUNK):
                    total += len(chunk)
                    if total > limit:  # it grows while it is read
                        raise TooLarge
                    digest.update(chunk)
                    target.write(chunk)
        except BaseException:
            path.unlink(missing_ok=True)
            raise
        return Staged(digest.hexdigest(), total, None, path)


@contextmanager
def _new(path: Path) -> Iterator[BinaryIO]:
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
    with os.fdopen(os.open(path, flags, stat.S_IRUSR | stat.S_IWUSR), "wb") as file:
        yield file
