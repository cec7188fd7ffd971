"""What a full or a read-only disk says, in one place: an error with a key and what to do, for routes, databases and modules."""

import errno
import os
import sqlite3
from pathlib import Path

from parachute.errors import ParachuteError, Unavailable

_FULL = (errno.ENOSPC, errno.EDQUOT)
_DENIED = (errno.EACCES, errno.EPERM)


class DiskFull(Unavailable):
    """There is no room for what was to be written."""

    status = 507
    key = "disk_full"


class DiskReadOnly(Unavailable):
    """The disk takes nothing, as after errors, or since it is mounted so."""

    key = "disk_read_only"


class NotPermitted(Unavailable):
    """A file belongs to somebody else, or its rights keep us out."""

    key = "file_not_permitted"


def disk_error(error: BaseException, path: Path | None = None) -> ParachuteError | None:
    """The error for a person where the disk is the reason, None for any other; `path` where the error names no file."""
    number = error.errno if isinstance(error, OSError) else None
    # Extended codes carry the primary one in their lowest byte.
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF if isinstance(error, sqlite3.Error) else 0
    named = getattr(error, "filename", None)
    name = str(named if isinstance(named, str | Path) else path or "something")
    if number in _FULL or code == sqlite3.SQLITE_FULL:
        return DiskFull(f"The disk is full: {name} cannot be written.", "Free space on it, and try again.")
    if (
        number == errno.EROFS
        or code == sqlite3.SQLITE_READONLY
        or (code == sqlite3.SQLITE_IOERR and _is_read_only(path))
    ):
        return DiskReadOnly(
            f"The disk can only be read: {name} cannot be written.",
            "Make it writable again, and try again: `parachute doctor disk-writable` says more.",
        )
    if number in _DENIED:
        return NotPermitted(
            f"The system does not let this computer use {name}.",
            "Give the file back to the user of this computer: `parachute doctor private-files disk-writable` says more.",
        )
    return None


def _is_read_only(path: Path | None) -> bool:
    try:
        return path is not None and bool(os.statvfs(path).f_flag & os.ST_RDONLY)
    except OSError:
        return False
