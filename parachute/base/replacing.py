"""Replacing a file: the new one is written next to it and renamed, so that a reader sees the old or the new one."""

import errno
import os
import stat
from contextlib import suppress
from pathlib import Path
from typing import Literal, Self

from parachute.base.opening import NEW, open_below, open_regular

Expected = bytes | Literal["anything"] | None
"""The content of the file that is replaced; None: there is no file."""

_NO_LINKS = (errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK)


def unfinished_name(name: str) -> str:
    """The name under which `name` is written until it is complete, in the same folder; `base.unfinished` knows it again."""
    return f".{name[:60]}.{os.urandom(6).hex()}"


class Replacement:
    """The new file in a folder (a descriptor, which it duplicates). It ends with `commit`, or else with `abandon` or a `with` block.

    Without a `mode` it has that of the file that it replaces. Errors of all methods: OSError.
    """

    def __init__(self, folder: int, name: str, mode: int | None = None) -> None:
        self._name = name
        self._temporary = unfinished_name(name)
        kept = _mode(name, folder) if mode is None else None
        if mode is None:
            mode = 0o666 if kept is None else 0o600
        self._folder = os.dup(folder)
        try:
            self._file = os.fdopen(open_below(self._folder, self._temporary, NEW, mode), "wb")
        except BaseException:
            os.close(self._folder)
            raise
        if kept is not None:
            os.fchmod(self._file.fileno(), kept)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.abandon()

    def write(self, data: bytes) -> None:
        """Add to the new file."""
        self._file.write(data)

    def take(self, path: Path) -> bool:
        """Have the content of a file of ours, which is moved here; False, and it stays, if it lies on another file system."""
        try:
            os.rename(path, self._temporary, dst_dir_fd=self._folder)
        except OSError as error:
            if error.errno != errno.EXDEV:
                raise
            return False
        self._file.close()
        self._file = os.fdopen(open_below(self._folder, self._temporary, os.O_WRONLY), "wb")
        return True

    def dress(self, mode: int, modified_ns: int) -> None:
        """Give it these permissions, whatever the umask is, and this time of its content."""
        self._file.flush()
        os.fchmod(self._file.fileno(), mode)
        os.utime(self._file.fileno(), ns=(modified_ns, modified_ns))

    def sync(self) -> None:
        """Wait until what was written is on the disk."""
        self._file.flush()
        os.fsync(self._file.fileno())

    def commit(self, expected: Expected = "anything", *, synced: bool = True) -> bool:
        """Put it in its place; or drop it and answer False, when what is there is not what was expected.

        Not `synced`, a power cut may leave an empty file.
        """
        try:
            if synced:
                self.sync()
            self._file.close()
            if not self._placed(expected):
                return False
            if synced:
                # Without a sync of the folder a power cut may bring the old name back.
                os.fsync(self._folder)
            return True
        finally:
            self.abandon()

    def abandon(self) -> None:
        """Drop it, unless it is in its place."""
        if self._folder < 0:
            return
        with suppress(OSError):  # what could not be written is not wanted any more
            self._file.close()
        with suppress(OSError):  # it has its name, or is gone
            os.unlink(self._temporary, dir_fd=self._folder)
        os.close(self._folder)
        self._folder = -1

    def _placed(self, expected: Expected) -> bool:
        if expected is None:
            return moved(self._folder, self._temporary, self._folder, self._name)
        if expected != "anything" and _content(self._name, self._folder, len(expected)) != expected:
            return False
        os.rename(self._temporary, self._name, src_dir_fd=self._folder, dst_dir_fd=self._folder)
        return True


def moved(folder: int, name: str, new_folder: int, new_name: str) -> bool:
    """Move a file between two folders (descriptors), or answer False, and leave it, when there is anything; error: OSError."""
    try:
        os.link(name, new_name, src_dir_fd=folder, dst_dir_fd=new_folder, follow_symlinks=False)
    except FileExistsError:
        return False
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        # A file system without links, as on some cards.
        try:
            os.stat(new_name, dir_fd=new_folder, follow_symlinks=False)
        except FileNotFoundError:
            os.rename(name, new_name, src_dir_fd=folder, dst_dir_fd=new_folder)
            return True
        return False
    os.unlink(name, dir_fd=folder)
    return True


def _content(name: str, folder: int, length: int) -> bytes | None:
    """The beginning of a file, one byte more than `length`; None if there is none."""
    try:
        with os.fdopen(open_regular(folder, name), "rb") as file:
            return file.read(length + 1)
    except FileNotFoundError:
        return None


def _mode(name: str, folder: int) -> int | None:
    """The permissions of the file that is about to be replaced."""
    try:
        mode = os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode
    except FileNotFoundError:
        return None
    return stat.S_IMODE(mode) & 0o777 if stat.S_ISREG(mode) else None
