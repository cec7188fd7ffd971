"""What closes a backup: copies of the databases and of all that moved while restic was reading, for the manifest to name."""

import errno
import hashlib
import os
import sqlite3
import stat
from collections.abc import Collection
from dataclasses import replace
from pathlib import Path

from parachute.backup import collect, databases
from parachute.backup.collect import Found
from parachute.backup.models import Entry, Part, Report
from parachute.files import private_folder

CONTENT = "content"
LARGEST = 256 << 20
"""A larger file that is being written is in the backup as restic has read it, and compared with nothing."""

_PIECE = 1 << 20
_OF_THE_COPY = (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EFBIG)


class Closing:
    """One part's staging folder; `content` in it holds copies under numbers."""

    def __init__(self, part: Part, folder: Path, report: Report, largest: int = LARGEST) -> None:
        self.part = part
        self.folder = folder
        self._report = report
        self._largest = largest
        self._content = private_folder(folder / CONTENT)
        self._number = 0
        self._databases: dict[str, Entry] = {}
        self._unreadable: list[str] = []

    def copy_databases(self, found: Found) -> None:
        """Copy every database before restic reads what the rows are about. Errors: OSError, sqlite3.OperationalError."""
        for path, entry in found.entries.items():
            if entry.kind == "file" and self.part.is_database(path):
                self._copy_database(path, found.signatures[path])

    def settle(self, found: Found, troubled: Collection[str] = ()) -> dict[str, Entry]:
        """The entries of the backup, after restic has read the files; what has changed since is copied.

        `troubled` are the paths with which restic had trouble. Error: OSError if a copy cannot be written.
        """
        entries: dict[str, Entry] = {}
        left_out = _Prefixes()
        now = Found()
        for path, status in collect.walk(self.part.root, self.part, now):
            kind = collect.kind_of(status)
            if kind is None:
                continue
            before = found.entries.get(path)
            is_excluded = self.part.is_database(path) or left_out.hold(path)
            if is_excluded and kind == "folder":
                left_out.add(path)
            if kind == "file" and self.part.is_database(path):
                settled = self._databases.get(path) or self._copy_database(path, collect.signature(status))
            elif before is None or is_excluded or path in troubled or self._has_moved(path, status, found):
                settled = self._copied(path, kind, status, None if is_excluded else self._largest)
            else:
                settled = before
            if settled is not None:
                entries[path] = settled
        # A folder that is closed to us is an entry all the same; a file that was so before and is open now is well.
        unreadable = ({*found.unreadable, *self._unreadable} - entries.keys()) | set(now.unreadable)
        self._report.unreadable += sorted(unreadable)
        for path in unreadable:
            # restic may have read it all the same: what lies beside it is not known to be all there is.
            above = path.rpartition("/")[0] or "."
            if above in entries and entries[above].content is None:
                entries[above] = replace(entries[above], content="")
        self._report.vanished += sorted({*found.entries, *found.vanished} - entries.keys() - unreadable)
        self._report.special += found.special
        return {path: _without_lost_twin(entry, entries) for path, entry in entries.items()}

    def _has_moved(self, path: str, status: os.stat_result, found: Found) -> bool:
        return path in found.moving or found.signatures[path] != collect.signature(status)

    def _copied(self, path: str, kind: str, status: os.stat_result, largest: int | None) -> Entry | None:
        mode = stat.S_IMODE(status.st_mode)
        if kind == "folder":
            return Entry(path, "folder", mode, content="")
        try:
            if kind == "link":
                target = os.readlink(self.part.root / path)  # noqa: PTH115 - Path would tidy it up
                return Entry(path, "link", mode, target=target, content="")
            return self._copy_file(path, largest)
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            if error.errno in _OF_THE_COPY:
                raise
            self._unreadable.append(path)
            return None

    def _copy_file(self, path: str, largest: int | None) -> Entry:
        with collect.open_file(self.part.root, path) as file:
            status = os.fstat(file.fileno())
            mode = stat.S_IMODE(status.st_mode)
            if largest is not None and status.st_size > largest:
                self._report.unsettled.append(path)
                return Entry(path, "file", mode, status.st_size, unsettled=True)
            name = self._next()
            digest, size = hashlib.sha256(), 0
            with (self._content / name).open("xb") as target:
                while (largest is None or size <= largest) and (data := file.read(_PIECE)):
                    digest.update(data)
                    size += target.write(data)
        return Entry(path, "file", mode, size, status.st_mtime_ns, digest.hexdigest(), content=name)

    def _copy_database(self, path: str, seen: collect.Signature) -> Entry | None:
        name = self._next()
        target = self._content / name
        try:
            databases.copy(self.part.root / path, target)
        except sqlite3.DatabaseError as error:
            target.unlink(missing_ok=True)
            if not (self.part.root / path).exists():
                return None
            if isinstance(error, sqlite3.OperationalError) and "full" in str(error):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(target)) from error
            # What SQLite cannot read may be mended some day; the backup of everything else does not wait for that.
            self._report.damaged.append(path)
            entry = self._copied(path, "file", (self.part.root / path).lstat(), None)
        else:
            with target.open("rb") as file:
                digest = hashlib.file_digest(file, "sha256").hexdigest()
            entry = Entry(path, "file", stat.S_IMODE(seen[0]), target.stat().st_size, None, digest, content=name)
            self._report.databases += 1
        if entry is not None:
            self._databases[path] = entry
        return entry

    def _next(self) -> str:
        self._number += 1
        return f"{self._number:06}"


class _Prefixes:
    """Folders, and whether a path lies in one of them."""

    def __init__(self) -> None:
        self._folders: set[str] = set()

    def add(self, path: str) -> None:
        self._folders.add(path)

    def hold(self, path: str) -> bool:
        parts = path.split("/")
        return any("/".join(parts[:length]) in self._folders for length in range(1, len(parts)))


def _without_lost_twin(entry: Entry, entries: dict[str, Entry]) -> Entry:
    """A hard link is compared only where both ends stood still."""
    if entry.twin is None:
        return entry
    first = entries.get(entry.twin)
    return entry if first is not None and first.content is None and entry.content is None else replace(entry, twin=None)
