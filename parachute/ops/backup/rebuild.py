"""Restoring a part into an empty folder: restic restores and verifies it, then the databases are put in place."""

import os
import re
import shutil
import stat
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from msgspec import Struct

from parachute.base.files import kind_of, remove_tree, walk_tree, writable_parent
from parachute.base.folders import Folder
from parachute.modules.registry import dependencies
from parachute.ops.backup import backups
from parachute.ops.backup.backups import Backup
from parachute.ops.backup.models import TRUST, BackupFailed, Damaged, Progress
from parachute.ops.backup.places import FOLDER
from parachute.ops.backup.repository import Node, Repository, Snapshot
from parachute.ops.backup.restore_progress import watched

_RESERVE = 64 << 20
_AS_OWNER = stat.S_ISUID | stat.S_ISGID
_SHOWN = 5
_NO_TEXT = re.compile("[\udc80-\udcff]")


class Rebuilt(Struct):
    """A part as it came back: where it lies, what is not as it was, and which of its files are copies of databases."""

    root: Path
    problems: list[str]
    databases: list[str]
    files: int = 0
    bytes: int = 0


@contextmanager
def rebuilt(
    repository: Repository, backup: Backup, part: str, place: Path, progress: Progress | None = None
) -> Iterator[Rebuilt]:
    """Restore into the new folder `place`, which is removed with the block; move the root away to keep it. Error: Damaged."""
    try:
        try:
            place.mkdir(mode=0o700)
            assert backup.whole is not None, "it is finished"
            found = _restored(repository, backup.whole, part, place, progress or Progress())
            sizes = [status.st_size for _, status in walk_tree(found.root) if stat.S_ISREG(status.st_mode)]
            found.files, found.bytes = len(sizes), sum(sizes)
            if part == TRUST:
                # They are in no backup, and whoever starts from this, a drill too, unpacks them again.
                dependencies.unpack_again(found.root / "modules")
        except OSError as error:
            said = f"The backup cannot be restored into {place}: {error.strerror or error}."
            raise BackupFailed(said, "Check that the disk has room.") from error
        yield found
    finally:
        remove_tree(place)


def damaged(said: str, problems: Sequence[str], hint: str) -> Damaged:
    """The error that names the first few of the problems."""
    more = f", and {len(problems) - _SHOWN:,} more" if len(problems) > _SHOWN else ""
    return Damaged(f"{said}: {'; '.join(problems[:_SHOWN])}{more}.", hint, differences=problems[:100])


def _restored(repository: Repository, snapshot: Snapshot, part: str, place: Path, progress: Progress) -> Rebuilt:
    top = backups.folder_of(snapshot, part)
    staging = f"{backups.folder_of(snapshot, TRUST)}/{FOLDER}/staging/{part}"
    problems = _fetch(repository, snapshot, (top, staging), place / "files", progress)
    root, databases = _located(snapshot, place / "files", top), []
    if os.path.lexists(place / "files" / staging.lstrip("/")):
        copies = _located(snapshot, place / "files", staging)
        for path, status in walk_tree(copies):
            if stat.S_ISREG(status.st_mode):
                with Folder.open(copies) as source, writable_parent(root, path) as (folder, name):
                    source.rename(path, folder, name)
                databases.append(path)
            elif not stat.S_ISDIR(status.st_mode):
                said = f"This backup holds {path!r} as a database, but it is not a file."
                raise Damaged(said, "Take an older backup.")
    if part == TRUST:
        remove_tree(root / FOLDER)
    return Rebuilt(root, problems, databases)


def _fetch(
    repository: Repository, snapshot: Snapshot, folders: Sequence[str], target: Path, progress: Progress
) -> list[str]:
    """Restore folders of a snapshot; what is not as the snapshot says. Sockets, pipes and devices are removed.

    No file comes back that would run with the rights of its owner: whoever made the snapshot may be somebody else.
    """

    def is_below(path: str) -> bool:
        return any(path == folder or path.startswith(f"{folder}/") for folder in folders)

    def shortened(line: str) -> str:
        return next((line.removeprefix(f"{folder}/") for folder in folders if line.startswith(f"{folder}/")), line)

    nodes = [node for node in repository.nodes(snapshot) if is_below(node.path)]
    needed, free = sum(node.size for node in nodes), shutil.disk_usage(target.parent).free
    if free < needed + _RESERVE:
        sizes = f"the backup needs {needed >> 20:,} MB, and {free >> 20:,} MB are free"
        hint = "Free space on that disk, or name a folder on another one."
        raise BackupFailed(f"There is no room in {target.parent.parent}: {sizes}.", hint, key="disk_full")
    target.mkdir()
    with watched(target, needed, progress):
        problems = [shortened(line) for line in repository.restore(snapshot, folders, target, progress)]
    missing = Counter(node for node in nodes if node.kind in ("file", "dir", "symlink"))
    for path, status in walk_tree(target):
        name = f"/{_NO_TEXT.sub(chr(0xFFFD), path)}"
        if kind_of(status) == "file" and status.st_mode & _AS_OWNER:
            (target / path).chmod(stat.S_IMODE(status.st_mode) & ~_AS_OWNER)
        if (kind := kind_of(status)) is None:
            (target / path).unlink()
        elif is_below(name):
            size = status.st_size if kind == "file" else 0
            missing.subtract([Node(name, kind, stat.S_IMODE(status.st_mode) & 0o777, size)])
    # What restic complained about is named by its own words.
    return problems or [f"{shortened(node.path)!r} is missing or another one" for node in +missing]


def _located(snapshot: Snapshot, target: Path, folder: str) -> Path:
    """Return the path of a folder of a snapshot below the target of its restore."""
    found = target / folder.lstrip("/")
    # Its name, or a link in it, may lead to a folder of this computer, which would be changed.
    leads_out = found.resolve() != target.resolve() / folder.lstrip("/")
    if leads_out or not found.is_dir():
        what = "leads out of its place" if leads_out else f"does not hold {folder}"
        raise BackupFailed(f"The snapshot {snapshot.id[:8]} {what}.", "Take an older backup.")
    return found
