"""The state that goes with a version: databases and settings, kept before the next version opens them, and put back with the old one.

Only what the next version has brought to another form is put back; the rest of what was written since stays in place.
"""

import contextlib
import json
import os
import shutil
import sqlite3
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

from parachute.base.database import copy_live
from parachute.base.files import atomic_write, private_folder, remove_tree, sync_names, sync_tree
from parachute.base.swap import renamed
from parachute.ops.updates.models import UpdateFailed

_LARGEST_FILE = 8 << 20
_SPARE = 32 << 20
"""Bytes that the version before writes when it starts, on each disk."""

_SIDE_FILES = ("-wal", "-shm", "-journal")
_COMPLETE, _PLAN = "complete", "back.json"


class State:
    """The databases of an installation in the folders `roots`, and the small files of the first of them; copies go to `folder`."""

    def __init__(self, folder: Path, home: Path, vault_state: Path) -> None:
        self._folder, self._kept = folder, folder / "kept"
        self.units = folder / "units"
        """The units of before, as they were written."""
        self._roots = {"home": home, "vault": vault_state}
        self._reserves = (self._kept / "room.unfinished", vault_state / "copies" / "room.unfinished")
        """Files that take room on the disks of both folders, so that the way back has it also when they are full; in no backup."""

    def keep(self) -> None:
        """Copy everything, once: whoever is cut off does it again. Nobody may write meanwhile. Errors: OSError, sqlite3.Error."""
        if self.is_kept:
            return
        remove_tree(self._kept)
        for name, root in self._roots.items():
            private_folder(self._kept / name)
            for database in _databases(root):
                copy_live(database, self._kept / name / database.name)
        for path in _files(self._roots["home"]):
            shutil.copy2(path, self._kept / "home" / path.name)
        sync_tree(self._kept)
        for reserve, size in zip(self._reserves, self._needed_to_come_back(), strict=True):
            _take_room(reserve, size)
        atomic_write(self._kept / _COMPLETE, "")

    def check_room(self) -> None:
        """Error: UpdateFailed if a disk has no room for copies of everything, for the way back, and for what a new version adds; OSError."""
        sizes = self._sizes()
        needed: dict[int, int] = {}
        # What is kept lies in the one folder; a new version copies databases next to themselves before it migrates them.
        added = (sum(sizes) + sizes[0], sizes[1])
        for root, more, size in zip(self._roots.values(), added, self._needed_to_come_back(), strict=True):
            device = root.stat().st_dev
            needed[device] = needed.get(device, 0) + more + size
        for root in self._roots.values():
            free, all_of_it = shutil.disk_usage(root).free, needed[root.stat().st_dev]
            if free < all_of_it:
                raise UpdateFailed(
                    f"The disk has {free >> 20} MB left for {root}, and keeping the state of before needs {all_of_it >> 20}.",
                    "Make room, then `parachute update` again; nothing has changed.",
                )

    def _sizes(self) -> list[int]:
        return [sum(database.stat().st_size for database in _databases(root)) for root in self._roots.values()]

    def _needed_to_come_back(self) -> tuple[int, int]:
        """Bytes on the disk of each folder: what was written since goes to the first, and what takes its place comes in."""
        home, vault = self._sizes()
        return 2 * home + vault + _SPARE, vault + _SPARE

    @property
    def is_kept(self) -> bool:
        """Return whether there is a complete copy."""
        return (self._kept / _COMPLETE).exists()

    def give_room(self) -> None:
        """Give the room back that was taken for the way back; error: OSError."""
        for reserve in self._reserves:
            reserve.unlink(missing_ok=True)

    def forget(self) -> None:
        """Remove the copies; error: OSError."""
        self.give_room()
        (self._kept / _COMPLETE).unlink(missing_ok=True)  # a half removed copy is none
        remove_tree(self._kept)
        remove_tree(self.units)

    def put_back(self, *, whole: bool = False) -> list[str]:
        """Put back what an older version does not read, or with `whole` all of it; sentences about what was written since.

        What takes its place is moved to `since`. Whoever is cut off does it again. Errors: OSError, sqlite3.Error.
        """
        self.give_room()
        if not self.is_kept:
            return []
        since, files = self._plan(whole)
        for name, file in files:
            self._replace(name, file, since / name / file)
        (self._kept / _PLAN).unlink(missing_ok=True)
        return [
            f"{self._roots[name] / file} is as it was before the update; what was written since is in {since / name / file}."
            for name, file in files
        ]

    def _plan(self, whole: bool) -> tuple[Path, list[tuple[str, str]]]:
        """Return the place for data written since, and the files to put back; decided once: half done, the databases would look alike."""
        path = self._kept / _PLAN
        if not path.exists():
            files = [
                (name, kept.name)
                for name, root in self._roots.items()
                for kept in sorted((self._kept / name).iterdir())
                if _differs(kept, root / kept.name, whole)
            ]
            since = renamed(self._folder / "kept", "written-since", datetime.now(UTC))
            atomic_write(path, json.dumps({"since": str(since), "files": files}))
        plan = json.loads(path.read_bytes())
        return Path(plan["since"]), [(name, file) for name, file in plan["files"]]

    def _replace(self, name: str, file: str, since: Path) -> None:
        kept, current = self._kept / name / file, self._roots[name] / file
        private_folder(since.parent)
        if current.suffix == ".db":
            if not since.exists() and current.exists():
                _copy_whatever(current, since)
            for suffix in _SIDE_FILES:  # of the one that goes: SQLite would play them back into the other
                current.with_name(f"{current.name}{suffix}").unlink(missing_ok=True)
        elif not since.exists() and current.exists():
            atomic_write(since, current.read_bytes())
        incoming = current.with_name(f".{current.name}.kept")
        _copy_file(kept, incoming)
        incoming.replace(current)
        sync_names(current.parent)


def _databases(root: Path) -> list[Path]:
    return sorted(path for path in root.glob("*.db") if path.is_file() and not path.is_symlink())


def _files(root: Path) -> list[Path]:
    return sorted(
        path
        for path in root.iterdir()
        if path.suffix in (".json", ".yaml")
        and not path.is_symlink()
        and path.is_file()
        and path.stat().st_size <= _LARGEST_FILE
    )


def _differs(kept: Path, current: Path, whole: bool) -> bool:
    if kept.suffix != ".db":
        return whole and (not current.exists() or kept.read_bytes() != current.read_bytes())
    try:
        return whole or not current.exists() or _migrations(kept, "immutable=1") != _migrations(current)
    except sqlite3.Error:
        return True


def _migrations(database: Path, how: str = "mode=ro") -> set[str]:
    with closing(sqlite3.connect(f"{database.absolute().as_uri()}?{how}", uri=True, timeout=30)) as connection:
        return {name for (name,) in connection.execute("SELECT name FROM migrations")}


def _copy_whatever(database: Path, target: Path) -> None:
    """Copy a database, byte for byte if SQLite does not read it. Error: OSError."""
    try:
        copy_live(database, target)
    except sqlite3.Error:
        for suffix in _SIDE_FILES:
            with contextlib.suppress(FileNotFoundError):
                _copy_file(Path(f"{database}{suffix}"), Path(f"{target}{suffix}"))
        _copy_file(database, target)


def _copy_file(source: Path, target: Path) -> None:
    """Copy a file, which is on the disk then."""
    shutil.copy2(source, target)
    with target.open("rb") as written:
        os.fsync(written.fileno())


def _take_room(path: Path, size: int) -> None:
    private_folder(path.parent)
    with path.open("wb") as file:
        if hasattr(os, "posix_fallocate"):
            os.posix_fallocate(file.fileno(), 0, size)
        else:  # macOS
            for _ in range(-(-size >> 20)):
                file.write(bytes(1 << 20))
