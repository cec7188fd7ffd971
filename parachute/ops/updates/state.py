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
from parachute.base.files import atomic_write, private_folder, remove_tree, sync_names
from parachute.base.swap import renamed
from parachute.ops.updates.models import UpdateFailed

_LARGEST_FILE = 8 << 20
_SPARE = 64 << 20
_SIDE_FILES = ("-wal", "-shm", "-journal")
_COMPLETE, _PLAN = "complete", "back.json"


class State:
    """The databases of an installation in the folders `roots`, and the small files of the first of them; copies go to `folder`."""

    def __init__(self, folder: Path, home: Path, vault_state: Path) -> None:
        self._folder, self._kept = folder, folder / "kept"
        self.units = folder / "units"
        """The units of before, as they were written."""
        self._roots = {"home": home, "vault": vault_state}

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
        atomic_write(self._kept / _COMPLETE, "")

    def check_room(self) -> None:
        """Error: UpdateFailed if the disk has no room for copies of everything, and for what a new version adds to it; OSError."""
        needed = 2 * sum(database.stat().st_size for root in self._roots.values() for database in _databases(root))
        free = shutil.disk_usage(self._roots["home"]).free
        if free < needed + _SPARE:
            raise UpdateFailed(
                f"The disk has {free >> 20} MB left, and keeping the state of before needs {(needed + _SPARE) >> 20}.",
                "Make room, then `parachute update` again; nothing has changed.",
            )

    @property
    def is_kept(self) -> bool:
        """Return whether there is a complete copy."""
        return (self._kept / _COMPLETE).exists()

    def forget(self) -> None:
        """Remove the copies; error: OSError."""
        (self._kept / _COMPLETE).unlink(missing_ok=True)  # a half removed copy is none
        remove_tree(self._kept)
        remove_tree(self.units)

    def put_back(self, *, whole: bool = False) -> list[str]:
        """Put back what an older version does not read, or with `whole` all of it; sentences about what was written since.

        What takes its place is moved to `since`. Whoever is cut off does it again. Errors: OSError, sqlite3.Error.
        """
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
        """Where what was written since goes, and what is put back; decided once: half of it done, the databases would look alike."""
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
            shutil.copy2(current, since)
        incoming = current.with_name(f".{current.name}.kept")
        shutil.copy2(kept, incoming)
        with incoming.open("rb") as written:
            os.fsync(written.fileno())
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
                shutil.copy2(f"{database}{suffix}", f"{target}{suffix}")
        shutil.copy2(database, target)
