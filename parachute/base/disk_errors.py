"""Errors of a full or read-only disk, each with a key and a hint, for routes, databases and modules."""

import errno
import os
from pathlib import Path, PurePath

from parachute.base.errors import ParachuteError, Unavailable
from parachute.base.replacing import unfinished_name

_NO_THREAD = "can't start new thread"
_FULL = (errno.ENOSPC, errno.EDQUOT)
_DENIED = (errno.EACCES, errno.EPERM)

_SQLITE_BUSY, _SQLITE_LOCKED, _SQLITE_NOMEM, _SQLITE_READONLY, _SQLITE_IOERR = 5, 6, 7, 8, 10
_SQLITE_CORRUPT, _SQLITE_FULL, _SQLITE_NOTADB = 11, 13, 26
"""Primary result codes (sqlite.org/rescode.html). sqlite3 itself is not imported: most modules do without."""

_PASSING = (_SQLITE_BUSY, _SQLITE_LOCKED, _SQLITE_NOMEM, _SQLITE_READONLY, _SQLITE_FULL)
_UNREADABLE = (266, 522, 8202, 8458)
"""Extended codes of SQLITE_IOERR: _READ, _SHORT_READ, _DATA, _CORRUPTFS. The others are about writing, as on a full disk."""


class DiskFull(Unavailable):
    """There is no room for what was to be written."""

    status = 507
    key = "disk_full"


class DiskReadOnly(Unavailable):
    """The disk takes nothing, as after errors, or since it is mounted so."""

    key = "disk_read_only"


def disk_error(error: BaseException, path: PurePath | None = None) -> ParachuteError | None:
    """The error for a person where the disk is the reason, None for any other; `path` instead of the name in the error."""
    number = error.errno if isinstance(error, OSError) else None
    # Extended codes carry the primary one in their lowest byte.
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    named = getattr(error, "filename", None)
    name = str(path or (named if isinstance(named, str | PurePath) else "something"))
    if number in _FULL or code == _SQLITE_FULL:
        return DiskFull(f"The disk is full: {name} cannot be written.", "Free some space on it, and try again.")
    if number == errno.EROFS or code == _SQLITE_READONLY or (code == _SQLITE_IOERR and takes_nothing(path)):
        return DiskReadOnly(
            f"The disk is read-only: {name} cannot be written.",
            "Make it writable again, and try again: `parachute doctor disk-writable` says more.",
        )
    if number in _DENIED:
        return Unavailable(
            f"The system does not let this computer use {name}.",
            "Give the file back to the user of this computer: `parachute doctor private-files disk-writable` says more.",
            key="file_not_permitted",
        )
    return None


def is_damage(error: BaseException | None) -> bool:
    """Return whether SQLite says that the file is corrupt, and not that it is busy, or that the disk is full."""
    # Extended codes carry the primary one in their lowest byte.
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    return code in (_SQLITE_CORRUPT, _SQLITE_NOTADB) or "unsupported file format" in str(error)


def machine_error(error: BaseException) -> ParachuteError | None:
    """Return the error for a person where the machine did not give what was asked for, None for a mistake of a program."""
    if known := disk_error(error):
        return known
    if isinstance(error, MemoryError) or (isinstance(error, RuntimeError) and _NO_THREAD in str(error)):
        said = "This machine, or a limit that was set for its programs, has no room for one more thread."
        return Unavailable(said, "End other programs, or raise the limit: `ulimit -a` shows it.", key="no_memory")
    if isinstance(error, OSError):
        name = f": {error.filename}" if error.filename else ""
        return Unavailable(
            f"{error.strerror or error}{name}.", "`parachute doctor` looks for the cause.", key="machine"
        )
    return None


def is_passing(error: BaseException) -> bool:
    """Return whether SQLite cannot use a database that may be whole: the disk is full or takes nothing, or another process has it."""
    code = getattr(error, "sqlite_errorcode", 0)
    return code & 0xFF in _PASSING or (code & 0xFF == _SQLITE_IOERR and code not in _UNREADABLE)


def takes_nothing(path: PurePath | None) -> bool:
    """True if no file can be made in the folder of this one: SQLite reports no more than an error, and flags of the disk not even that."""
    if path is None:
        return False
    probe = Path(path).with_name(unfinished_name(path.name))
    try:
        os.close(os.open(probe, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
        probe.unlink()
    except OSError as error:
        return error.errno == errno.EROFS
    return False
