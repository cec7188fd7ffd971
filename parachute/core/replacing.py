"""A file that is written beside the one whose place it takes in the end, so that a reader sees the old or the new one."""

import errno
import os
import stat
from typing import Literal

from parachute.base.folders import Folder
from parachute.base.unfinished import unfinished_name

_NO_LINKS = (errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK)


class Replacement:
    """The new file in a folder, which it keeps open for itself. It ends with `commit` or `abandon`."""

    def __init__(self, folder: Folder, name: str) -> None:
        self._name = name
        self._temporary = unfinished_name(name)
        mode = _mode(name, folder)
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
        descriptor = folder.descriptor(self._temporary, flags, 0o666 if mode is None else 0o600)
        self._folder = os.dup(folder.fileno())
        self._file = os.fdopen(descriptor, "wb")
        if mode is not None:
            os.fchmod(descriptor, mode)

    def write(self, data: bytes) -> None:
        """Add to the new file; error: OSError."""
        self._file.write(data)

    def commit(self, expected: bytes | Literal["anything"] | None = "anything") -> bool:
        """Put it in its place, or answer False, and drop it, when there is not what was expected (None: no file); error: OSError."""
        try:
            self._file.flush()
            os.fsync(self._file.fileno())
            self._file.close()
            if not self._placed(expected):
                os.unlink(self._temporary, dir_fd=self._folder)
                return False
            # Without a sync of the folder a power cut may bring the old name back.
            os.fsync(self._folder)
        except BaseException:
            self.abandon()
            raise
        os.close(self._folder)
        self._folder = -1
        return True

    def abandon(self) -> None:
        """Drop it; what is in its place stays."""
        if self._folder < 0:
            return
        try:
            self._file.close()
        except OSError:
            pass  # what could not be written is not wanted any more
        try:
            os.unlink(self._temporary, dir_fd=self._folder)
        except OSError:
            pass  # gone already
        os.close(self._folder)
        self._folder = -1

    def _placed(self, expected: bytes | Literal["anything"] | None) -> bool:
        if expected is None:
            try:
                os.link(self._temporary, self._name, src_dir_fd=self._folder, dst_dir_fd=self._folder)
            except FileExistsError:
                return False
            except OSError as error:
                if error.errno not in _NO_LINKS:
                    raise
                # A file system without links, as on some cards.
                if _content(self._name, self._folder, 0) is not None:
                    return False
            else:
                os.unlink(self._temporary, dir_fd=self._folder)
                return True
        elif expected != "anything" and _content(self._name, self._folder, len(expected)) != expected:
            return False
        os.rename(self._temporary, self._name, src_dir_fd=self._folder, dst_dir_fd=self._folder)
        return True


def moved(name: str, folder: int, new_name: str, new_folder: int) -> bool:
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
    """What a file begins with, one byte more than `length`; None if there is none."""
    try:
        with Folder(os.dup(folder)) as opened, opened.file(name) as file:
            return file.read(length + 1)
    except FileNotFoundError:
        return None


def _mode(name: str, folder: Folder) -> int | None:
    """The permissions of the file that is about to be replaced."""
    status = folder.status(name)
    return stat.S_IMODE(status.st_mode) & 0o777 if status and stat.S_ISREG(status.st_mode) else None
