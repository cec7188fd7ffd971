"""Staging before restic reads: a walk over everything, copies of the databases, and the patterns of what restic leaves out."""

import errno
import os
import sqlite3
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from parachute.base.database import copy_live
from parachute.base.files import atomic_write, kind_of, private_folder, remove_tree, walk_tree
from parachute.ops.backup.models import Part, Report, as_pattern
from parachute.ops.backup.places import Places

_LONGEST, _DEEPEST = 3500, 200
"""Bytes and folders of a path, so that it can be restored elsewhere: the system takes 4,096 bytes in one."""


@contextmanager
def staged(places: Places, reports: dict[str, Report]) -> Iterator[Path]:
    """Copy all databases for the block; the file with what restic is to leave out. `reports` gets one for each part. Error: OSError."""
    folder = places.staging
    remove_tree(folder)  # of a backup that was killed
    try:
        private_folder(folder)
        patterns = []
        for part in places.parts():
            reports[part.name] = Report()
            patterns += _stage(part, folder / part.name, reports[part.name])
        excludes = places.folder / "excludes"
        # The last one counts: of the folder of the backups only the copies belong to the backup.
        atomic_write(excludes, os.fsencode("\n".join([*patterns, f"!{as_pattern(str(folder))}", ""])))
        yield excludes
    finally:
        with suppress(OSError):
            remove_tree(folder)


def name_troubled(part: Part, troubled: list[str], report: Report) -> None:
    """Sort the paths with which restic had trouble into those that have gone and those that cannot be read."""
    for path in troubled:
        if path.startswith(f"{part.root}/") and (relative := path.removeprefix(f"{part.root}/")):
            # Of a name that is no UTF-8 restic does not say the bytes.
            is_there = os.path.lexists(path) or "\N{REPLACEMENT CHARACTER}" in path
            (report.unreadable if is_there else report.vanished).append(relative)
    report.unreadable, report.vanished = sorted(set(report.unreadable)), sorted(set(report.vanished))


def _stage(part: Part, folder: Path, report: Report) -> list[str]:
    """Copy the databases of a part, and count what is in it; the patterns of what restic is not to read."""
    found: list[str] = []
    raw: list[str] = []
    far: list[str] = []

    def is_far(path: str) -> bool:
        if part.is_left_out(path):
            return True
        if path.count("/") > _DEEPEST or len(os.fsencode(path)) > _LONGEST:
            far.append(path)
        return path in far[-1:]

    def missed(path: str, error: OSError) -> None:
        is_gone = isinstance(error, FileNotFoundError | NotADirectoryError)
        (report.vanished if is_gone else report.unreadable).append(path)

    for path, status in walk_tree(part.root, leave_out=is_far, missed=missed):
        kind = kind_of(status)
        if kind is None:
            report.special.append(path)
        elif part.is_database(path):
            (found if kind == "file" else raw).append(path)
        elif kind == "file":
            report.files += 1
            report.bytes += status.st_size
    for path in found:
        source, copy = part.root / path, folder / path
        try:
            copy_live(source, copy)
            copy.chmod(stat.S_IMODE(source.lstat().st_mode))
            report.databases += 1
            report.bytes += copy.stat().st_size
        except (sqlite3.DatabaseError, FileNotFoundError) as error:
            if isinstance(error, sqlite3.OperationalError) and "full" in str(error):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(copy)) from error
            copy.unlink(missing_ok=True)
            if not source.exists():
                report.vanished.append(path)
                continue
            # What SQLite cannot read may be mended some day; restic takes it as it is.
            report.damaged.append(path)
            raw.append(path)
        report.files += 1
    report.unreadable += far
    top = as_pattern(str(part.root))
    taken = [f"!{top}/{as_pattern(path)}" for path in raw]
    return [*part.excludes, *taken, *(f"{top}/{as_pattern(path)}" for path in far)]
