"""Files and folders below a folder, reached without following a link in any part of a path.

Use this for whatever lies in the vault, in a module or in a sandbox: others write there, and may put a link in the place of
any folder at any time. A path that was checked and then opened by its name is not safe against that; a descriptor is.
"""

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path, PurePath
from typing import BinaryIO, Self

from parachute.base.openat2 import LINK, open_beneath
from parachute.base.unfinished import unfinished_name
from parachute.errors import InvalidInput

Relative = str | PurePath
"""A path below a folder: neither absolute nor with `..` in it."""

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
# O_NONBLOCK: opening a named pipe would wait for its writer.
_FILE = os.O_RDONLY | os.O_NONBLOCK


class Folder:
    """An open folder, used with `with`. Paths in its methods are relative to it, and no part of them may be a link.

    Errors of all methods: OSError with the number of the system (ELOOP or ENOTDIR where a link is in the way), InvalidInput
    for a path that leads out. They wait for the disk.
    """

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    @classmethod
    def open(cls, path: Path) -> Self:
        """Open a folder by a path that is ours; links in this path are followed."""
        return cls(os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC))

    @classmethod
    def open_unlinked(cls, path: Path) -> Self:
        """Open a folder by an absolute path in which no part may be a link, from the root on."""
        with cls.open(Path(path.anchor)) as root:
            return cls(root.descriptor(path.relative_to(path.anchor), _FOLDER))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def fileno(self) -> int:
        """The folder's descriptor, for functions with `dir_fd`; it ends with this object."""
        return self._descriptor

    def close(self) -> None:
        """Close the descriptor; a second time does nothing."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def descriptor(self, path: Relative, flags: int, mode: int = 0o600) -> int:
        """A new descriptor of what is at `path`, which the caller closes; `flags` as for open(2)."""
        parts = parts_of(path)
        flags |= os.O_CLOEXEC
        opened = open_beneath(self._descriptor, "/".join(parts) or ".", flags, mode)
        return self._walked(parts, flags, mode) if opened is None else opened

    def folder(self, path: Relative, *, make: bool = False, mode: int = 0o700) -> "Folder":
        """A folder below this one; `make`: the missing ones are made, each with `mode`."""
        if make:
            return self._made(parts_of(path), mode)
        return Folder(self.descriptor(path, _FOLDER))

    def file(self, path: Relative) -> BinaryIO:
        """A regular file, opened for reading; error: InvalidInput for anything else that is there."""
        descriptor = self.descriptor(path, _FILE)
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            os.close(descriptor)
            raise InvalidInput(f"{path} is not a regular file.", key="not_a_file")
        return os.fdopen(descriptor, "rb")

    def read(self, path: Relative, limit: int) -> bytes:
        """The content of a regular file of at most `limit` bytes; error: InvalidInput above that."""
        with self.file(path) as file:
            # The size first: a read of `limit` bytes would take as much memory, whatever the file holds.
            data = file.read(min(os.fstat(file.fileno()).st_size, limit) + 1)
            while data and len(data) <= limit and (more := file.read(limit + 1 - len(data))):
                data += more
        if len(data) > limit:
            raise InvalidInput(f"{path} is larger than {limit:,} bytes.", key="file_too_large")
        return data

    def status(self, path: Relative) -> os.stat_result | None:
        """What lstat(2) says of `path`; None where nothing is."""
        try:
            with self._parent(path) as (folder, name):
                return os.stat(name, dir_fd=folder, follow_symlinks=False)
        except FileNotFoundError:
            return None

    def entries(self) -> Iterator[os.DirEntry[str]]:
        """What lies directly in this folder, in no order; each `stat` with `follow_symlinks=False`, while the folder is open."""
        with os.scandir(self._descriptor) as found:
            yield from found

    def write(self, path: Relative, data: bytes | str, mode: int = 0o600) -> None:
        """Replace or make a file; a reader sees the old content or the new one, and a power cut leaves one of both."""
        with self._parent(path) as (folder, name):
            temporary = unfinished_name(name)
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
            with os.fdopen(os.open(temporary, flags, mode, dir_fd=folder), "wb") as file:
                try:
                    file.write(data.encode() if isinstance(data, str) else data)
                    file.flush()
                    os.fsync(file.fileno())
                    os.rename(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)
                except BaseException:
                    with suppress(FileNotFoundError):
                        os.unlink(temporary, dir_fd=folder)
                    raise
            os.fsync(folder)

    def remove(self, path: Relative) -> None:
        """Remove a file, or a link itself; nothing happens where nothing is."""
        with suppress(FileNotFoundError), self._parent(path) as (folder, name):
            os.unlink(name, dir_fd=folder)

    @contextmanager
    def _parent(self, path: Relative) -> Iterator[tuple[int, str]]:
        """The folder that `path` lies in, as a descriptor, and its last name."""
        *above, name = parts_of(path) or (".",)
        if not above:
            yield self._descriptor, name
            return
        with self.folder("/".join(above)) as folder:
            yield folder.fileno(), name

    def _made(self, parts: tuple[str, ...], mode: int) -> "Folder":
        folder = Folder(os.dup(self._descriptor))
        for part in parts:
            with folder:
                try:
                    os.mkdir(part, mode, dir_fd=folder.fileno())
                except FileExistsError:
                    pass
                except OSError as error:
                    # A folder that is mounted into a read-only one exists and reports this all the same.
                    if error.errno != errno.EROFS:
                        raise
                folder = Folder(folder.descriptor(part, _FOLDER))
        return folder

    def _walked(self, parts: tuple[str, ...], flags: int, mode: int) -> int:
        """One part after the other, for systems without openat2."""
        current = os.dup(self._descriptor)
        try:
            for part in parts[:-1]:
                below = _opened(part, _FOLDER, 0, current)
                os.close(current)
                current = below
            return _opened(parts[-1] if parts else ".", flags | os.O_NOFOLLOW, mode, current)
        finally:
            os.close(current)


def _opened(name: str, flags: int, mode: int, folder: int) -> int:
    """One name in a folder; error: OSError, ELOOP for a link."""
    try:
        found = os.open(name, flags, mode, dir_fd=folder)
        # With O_PATH a link itself is opened.
        if not stat.S_ISLNK(os.fstat(found).st_mode):
            return found
        os.close(found)
    except NotADirectoryError:
        # What O_DIRECTORY says of a link, too.
        if not stat.S_ISLNK(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode):
            raise
    except OSError as error:
        if error.errno != errno.ELOOP:
            raise
    raise OSError(errno.ELOOP, LINK, name)


def parts_of(path: Relative) -> tuple[str, ...]:
    """The parts of a path below a folder; error: InvalidInput for one that leads out of it."""
    found = PurePath(path)
    if found.is_absolute() or ".." in found.parts or "\0" in str(found):
        raise InvalidInput(f"{str(path)[:200]!r} does not stay below its folder.", key="path_leads_out")
    return found.parts
