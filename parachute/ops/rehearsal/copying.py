"""Copies of folders that others may be writing: shared blocks where the file system can, whole databases, and no secrets."""

import errno
import fcntl
import os
import shutil
import sqlite3
import stat
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from parachute.base.database import copy_live
from parachute.base.errors import ParachuteError
from parachute.base.files import kind_of, walk_tree
from parachute.base.folders import Folder

_FICLONE = 0x40049409  # linux/fs.h


class DamagedDatabase(ParachuteError):
    """A database that SQLite cannot read; it is the running version's."""

    key = "database_damaged"


@dataclass(slots=True)
class Measured:
    """Contents of a folder: bytes of its files, and of its databases with their logs."""

    files: int = 0
    databases: int = 0
    found: list[str] = field(default_factory=list)
    """Its databases, by relative path."""
    sample: Path | None = None
    """One of its files."""


def measure(root: Path, is_left_out: Callable[[str], bool], is_database: Callable[[str], bool]) -> Measured:
    """Measure a folder; error: OSError."""
    result = Measured()
    for path, status in walk_tree(root, leave_out=is_left_out):
        if kind_of(status) != "file":
            continue
        if is_database(path):
            result.databases += status.st_size
            with suppress(OSError):
                result.databases += (root / f"{path}-wal").stat().st_size
            result.found.append(path)
        else:
            result.files += status.st_size
            if status.st_size:
                result.sample = root / path
    return result


def copy_folder(root: Path, target: Path, is_left_out: Callable[[str], bool]) -> None:
    """Copy folders, files and links with their modes and times, and no file of a database; what goes meanwhile is left out.

    Error: OSError of the target, or of what is there and cannot be read.
    """
    kept: list[tuple[str, os.stat_result]] = []
    with Folder.open(root) as source:
        for path, status in walk_tree(root, leave_out=is_left_out):
            copy = target / path
            try:
                match kind_of(status):
                    case "dir":
                        copy.mkdir(mode=0o700, exist_ok=True)
                        kept.append((path, status))
                    case "file":
                        with source.file(path) as opened:
                            _copy_file(opened, copy, status)
                    case "symlink":
                        copy.symlink_to(source.link(path))
                    case None:  # a socket, which nobody answers in the copy
                        continue
            except FileNotFoundError:
                continue
    # Last, and from below: one may not be writable.
    for path, status in reversed(kept):
        _take_over(target / path, status)


def copy_database(source: Path, target: Path) -> None:
    """Copy a database as one that is whole; errors: DamagedDatabase, OSError. One that has gone is left out."""
    target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    try:
        copy_live(source, target)
        target.chmod(stat.S_IMODE(source.lstat().st_mode))
    except FileNotFoundError:
        target.unlink(missing_ok=True)
    except sqlite3.DatabaseError as error:
        if "full" in str(error):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(target)) from error
        if not source.exists():
            return
        raise DamagedDatabase(
            f"The database {source} cannot be read: {error}.",
            "`parachute doctor databases` says more; mend it before the update.",
        ) from error


def shares_blocks(sample: Path, folder: Path) -> bool:
    """Return whether a file can be copied into a folder without taking space; found out by doing it."""
    copy = folder / "sample"
    try:
        with sample.open("rb") as opened, copy.open("wb") as written:
            return _cloned(opened, written)
    except OSError:
        return False
    finally:
        with suppress(OSError):
            copy.unlink()


def _copy_file(opened: BinaryIO, copy: Path, status: os.stat_result) -> None:
    with open(os.open(copy, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600), "wb") as written:  # noqa: PTH123
        if not _cloned(opened, written):
            shutil.copyfileobj(opened, written, 1 << 20)
    _take_over(copy, status)


def _cloned(opened: BinaryIO, written: BinaryIO) -> bool:
    if sys.platform != "linux":
        return False
    try:
        fcntl.ioctl(written.fileno(), _FICLONE, opened.fileno())
    except OSError:
        return False
    return True


def _take_over(path: Path, status: os.stat_result) -> None:
    path.chmod(stat.S_IMODE(status.st_mode))
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
