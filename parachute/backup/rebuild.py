"""Bringing a part of a backup back into an empty place: files, then what closed the backup, then the comparison."""

import os
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from parachute.backup import collect, compare, manifest
from parachute.backup.backups import Pair
from parachute.backup.closing import CONTENT
from parachute.backup.compare import Difference
from parachute.backup.manifest import Manifest
from parachute.backup.models import BackupFailed, Damaged, Entry
from parachute.backup.repository import Repository

_SPARE = 64 << 20


@dataclass(frozen=True, slots=True)
class Rebuilt:
    """A part as it came back: where it lies, what it should be, and what differs from that."""

    root: Path
    manifest: Manifest
    differences: list[Difference]


@contextmanager
def rebuilt(repository: Repository, part: str, pair: Pair, place: Path) -> Iterator[Rebuilt]:
    """Restore into the new folder `place`, which is removed when the block ends; move the root away to keep it.

    Errors: Damaged without a manifest to compare with, BackupFailed if there is no room, those of `Repository`.
    """
    try:
        try:
            place.mkdir(mode=0o700)
            found = _rebuild(repository, part, pair, place)
        except OSError as error:
            raise BackupFailed(
                f"The backup cannot be restored into {place}: {error.strerror or error}.", "Is there room on that disk?"
            ) from error
        yield found
    finally:
        remove(place)


def remove(place: Path) -> None:
    """Remove a folder with everything in it, also what is read-only; nothing there is no error."""

    if place.is_symlink() or not place.is_dir():
        place.unlink(missing_ok=True)
        return
    for path, is_folder in reversed(_opened(place)):
        if is_folder:
            (place / path).rmdir()
        else:
            (place / path).unlink()


def _opened(place: Path) -> list[tuple[str, bool]]:
    """What is in a folder with itself, and whether it is a folder, which then can be changed by its owner.

    Not by recursion, as `shutil.rmtree` does it: folders may be nested as deep as a path is long.
    """
    found = []
    for path, status in collect.walk(place, None, collect.Found()):
        is_folder = stat.S_ISDIR(status.st_mode)
        if is_folder and status.st_mode & stat.S_IRWXU != stat.S_IRWXU:
            (place / path).chmod(stat.S_IMODE(status.st_mode) | stat.S_IRWXU)
        found.append((path, is_folder))
    return found


def _rebuild(repository: Repository, part: str, pair: Pair, place: Path) -> Rebuilt:
    closed = repository.restore(pair.closed, place / "closed")
    for path, status in collect.walk(closed, None, collect.Found()):
        if collect.kind_of(status) not in ("file", "folder"):
            # A link would bring in a file of this computer.
            raise Damaged(f"What closes this backup holds {path!r}, which is no file.", "Take an older backup.")
    try:
        with (closed / manifest.FILE).open("rb") as file:
            expected = manifest.read(file, part)
    except FileNotFoundError as error:
        raise Damaged("The manifest of this backup is missing.", "Take an older backup.") from error
    free = shutil.disk_usage(place).free
    if free < expected.bytes + _SPARE:
        raise BackupFailed(
            f"There is no room in {place.parent}: the backup needs {expected.bytes >> 20:,} MB, and {free >> 20:,} MB are free.",
            "Free space on that disk, or name a folder on another one.",
        )
    root = repository.restore(pair.files, place / "files")
    _overlay(root, expected, closed / CONTENT)
    seen = collect.scan(root)
    return Rebuilt(root, expected, compare.differences(expected, seen.entries, on_disk=True))


def _overlay(root: Path, expected: Manifest, content: Path) -> None:
    """Put in place what moved while the files were read, and remove what came and went."""
    for path, _ in _opened(root):
        if os.path.lexists(root / path) and compare.is_passing(expected, path):
            _clear(root / path)
    for entry in expected.entries.values():
        if entry.content is not None and entry.path != "." and _leads_there(root, entry.path):
            _put(root / entry.path, entry, content)
        elif _is_far(entry) and _leads_there(root, entry.path) and _is_file(root / entry.path):
            os.utime(root / entry.path, ns=(entry.modified or 0, entry.modified or 0))
    # From the inside out: a folder that is closed to us, or read-only, is so only once it is complete.
    for entry in reversed(list(expected.entries.values())):
        folder = root / entry.path
        if entry.kind == "folder" and _leads_there(root, entry.path) and folder.is_dir() and not folder.is_symlink():
            folder.chmod(entry.mode)


def _is_far(entry: Entry) -> bool:
    """Whether a file has a time that restic cannot give back: before 1678 or after 2261."""
    return entry.modified is not None and abs(entry.modified) >= 1 << 63


def _is_file(path: Path) -> bool:
    return path.is_file() and not path.is_symlink()


def _put(path: Path, entry: Entry, content: Path) -> None:
    is_folder = path.is_dir() and not path.is_symlink()
    if entry.kind == "folder":
        if not is_folder:
            _clear(path)
            path.mkdir(mode=0o700)
        return
    _clear(path)
    if entry.kind == "link":
        path.symlink_to(str(entry.target))
        return
    copy = content / str(entry.content)
    if not copy.is_file():
        return  # the comparison will say that it is missing
    shutil.copyfile(copy, path)
    path.chmod(entry.mode)
    if entry.modified is not None:
        os.utime(path, ns=(entry.modified, entry.modified))


def _clear(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        remove(path)
    else:
        path.unlink(missing_ok=True)


def _leads_there(root: Path, path: str) -> bool:
    """Whether every folder above is a real one: nothing is written through a link."""
    above = root
    for name in path.split("/")[:-1]:
        above /= name
        if above.is_symlink() or not above.is_dir():
            return False
    return True
