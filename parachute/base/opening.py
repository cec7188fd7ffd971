"""Opening what lies below an open folder without following a link: in one system call, or one part of the path after the other."""

import errno
import os
import stat
from pathlib import Path, PurePath

from parachute.base.errors import InvalidInput
from parachute.base.openat2 import LINK, MOUNT, open_beneath

Relative = str | PurePath
"""A path below a folder: neither absolute nor with `..` in it."""

FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
# O_NONBLOCK: opening a named pipe would wait for its writer.
FILE = os.O_RDONLY | os.O_NONBLOCK
NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL


_UNUSUAL = frozenset({"", ".", ".."})


def parts_of(path: Relative) -> tuple[str, ...]:
    """The parts of a path below a folder; error: InvalidInput for one that leads out of it, or that no file can have."""
    # Walks and hashes come here for each file; making a PurePath costs more than opening it.
    if isinstance(path, str) and path.isascii() and "\0" not in path:
        parts = path.split("/")
        if _UNUSUAL.isdisjoint(parts):
            return tuple(parts)
    found = PurePath(path)
    if found.is_absolute() or ".." in found.parts or not _is_possible(str(found)):
        raise InvalidInput(f"{str(path)[:200]!r} does not stay below its folder.", key="path_leads_out")
    return found.parts


def _is_possible(path: str) -> bool:
    try:
        return "\0" not in path and (path.isascii() or bool(os.fsencode(path)))
    except UnicodeEncodeError:  # half a character
        return False


def open_below(folder: int, path: Relative, flags: int, mode: int = 0o600, *, same_mount: bool = False) -> int:
    """A new descriptor of what is at `path`, which the caller closes; `flags` as for open(2).

    Error: OSError; ELOOP for a link in any part, EXDEV for a mount point where the `same_mount` is wanted.
    """
    parts = parts_of(path)
    flags |= os.O_CLOEXEC
    opened = open_beneath(folder, "/".join(parts) or ".", flags, mode, same_mount)
    return _walked(folder, parts, flags, mode, same_mount) if opened is None else opened


def open_regular(folder: int, path: Relative) -> int:
    """A regular file for reading, as a new descriptor; error: InvalidInput for anything else that is there."""
    descriptor = open_below(folder, path, FILE)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise InvalidInput(f"{path} is not a regular file.", key="not_a_file")
    return descriptor


def _walked(folder: int, parts: tuple[str, ...], flags: int, mode: int, same_mount: bool) -> int:
    """One part after the other, for systems without openat2."""
    mount = _mount_of(folder) if same_mount else None
    current = os.dup(folder)
    try:
        for part in parts[:-1]:
            below = _opened(part, FOLDER, 0, current, mount)
            os.close(current)
            current = below
        return _opened(parts[-1] if parts else ".", flags | os.O_NOFOLLOW, mode, current, mount)
    finally:
        os.close(current)


def _opened(name: str, flags: int, mode: int, folder: int, mount: object) -> int:
    """One name in a folder; error: OSError, ELOOP for a link."""
    try:
        found = os.open(name, flags, mode, dir_fd=folder)
    except NotADirectoryError:
        # What O_DIRECTORY says of a link, too.
        if not stat.S_ISLNK(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode):
            raise
    except OSError as error:
        if error.errno != errno.ELOOP:
            raise
    else:
        try:
            # With O_PATH a link itself is opened.
            if not stat.S_ISLNK(os.fstat(found).st_mode):
                if mount is not None and _mount_of(found) != mount:
                    raise OSError(errno.EXDEV, MOUNT, name)
                return found
        except BaseException:
            os.close(found)
            raise
        os.close(found)
    raise OSError(errno.ELOOP, LINK, name)


def _mount_of(descriptor: int) -> object:
    """The mount that a descriptor lies in: its number, or that of the device where the system has none."""
    try:
        for line in Path(f"/proc/self/fdinfo/{descriptor}").read_text().splitlines():
            if line.startswith("mnt_id:"):
                return line
    except (FileNotFoundError, PermissionError):
        pass  # no /proc
    return os.fstat(descriptor).st_dev
