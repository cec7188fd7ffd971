"""Snapshots of a folder in which an agent works with the owner's own rights, so that its runs can be undone, too."""

import hashlib
import json
import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from parachute.base.errors import InvalidInput
from parachute.base.files import atomic_write, private_folder, read_regular
from parachute.base.folders import Folder
from parachute.base.signatures import Signature
from parachute.changes.blobs import Blobs
from parachute.changes.differences import LONGEST, counts
from parachute.changes.links import Links, is_same_file
from parachute.changes.models import NOTHING, Entry, State
from parachute.changes.taking import Snapshot, Taking, objects_of

_INDEX_BYTES = 64 << 20


class Snapshots:
    """Takes snapshots; the last one of each folder is kept, so that only what has changed is read again. It waits for the disk."""

    def __init__(self, blobs: Blobs, folder: Path) -> None:
        self._blobs = blobs
        self._folder = folder
        self._running = folder / "running"
        self._links = Links(folder / "links")
        self._known: dict[Path, Snapshot] = {}

    def prepare(self) -> list[tuple[int, Snapshot | None]]:
        """Make the folders; the snapshots of runs that were cut off, by their numbers, None for one that cannot be read."""
        for each in (self._folder, self._running, self._links.folder):
            private_folder(each)
        found = [(int(path.stem), _parsed(path)) for path in self._running.glob("*.json")]
        if not found:
            self._links.release()
        return found

    def take(self, directory: Path, *, may_be_gone: bool = False) -> Snapshot:
        """Look at a folder. Errors: TooMany, OSError, also for one that is gone, unless it `may_be_gone`."""
        known = self._known.get(directory)
        if known is None:
            known = self._known[directory] = _read(self._file(directory))
        taking = Taking(self._blobs, self._links, known.index)
        try:
            with Folder.open_unlinked(directory) as root:
                return taking.run(root)
        except FileNotFoundError:
            if not may_be_gone:
                raise
            return Snapshot({})

    def hold(self, number: int, directory: Path, taken: Snapshot) -> None:
        """Keep the snapshot with which a run begins until it is released, also when the server dies."""
        self._save(directory, taken)
        (self._running / f"{number}.json").hardlink_to(self._file(directory))

    def release(self, number: int, directory: Path | None = None, taken: Snapshot | None = None) -> None:
        """Forget the snapshot of a run that was recorded, with the one that was taken at its end."""
        (self._running / f"{number}.json").unlink(missing_ok=True)
        if next(self._running.glob("*.json"), None) is None:
            self._links.release()
        if directory is not None and taken is not None:
            with suppress(OSError):  # on a full disk the next look reads more
                self._save(directory, taken)

    def compared(self, number: int, before: Snapshot, after: Snapshot) -> list[Entry]:
        """Return the changes between two snapshots, without what a repository that was there has got."""
        found, unknown = [], before.unknown | after.unknown
        for path in sorted(before.index.keys() | after.index.keys()):
            old, new = (each.index[path][1] if path in each.index else NOTHING for each in (before, after))
            if old == new or (unknown and any(each in unknown for each in _above(path))):
                continue
            if old == NOTHING and (place := objects_of(path)) and place in before.index:
                continue
            if before.is_shared and not self._is_lost(old, new):
                continue
            old, new = self._links.settled(self._blobs, old, is_kept=True), self._links.settled(self._blobs, new)
            contents = [self._blobs.read(state.hash, LONGEST) if state.kind == "file" else b"" for state in (old, new)]
            lines = None if None in contents else counts(contents[0] or b"", contents[1] or b"")
            added, removed = lines or (None, None)
            found.append(Entry(number, path, old, new, "applying", old, added, removed))
        return found

    def _is_lost(self, old: State, new: State) -> bool:
        """Return whether anything that was there is gone."""
        if old == NOTHING or new == NOTHING or old.kind != new.kind:
            return old != NOTHING
        if old.kind != "file" or old.hash == new.hash or new.size < old.size:
            return True
        if is_same_file(old, new):
            return False
        before, after = (self._blobs.read(state.hash, new.size) for state in (old, new))
        return before is None or after is None or not after.startswith(before)

    def hashes(self) -> set[str]:
        """The contents that the last snapshots name, and those with which runs began."""
        found = set()
        for path in (*self._folder.glob("*.json"), *self._running.glob("*.json")):
            found |= {state.hash for _, state in _read(path).index.values()}
        return found

    def _save(self, directory: Path, taken: Snapshot) -> None:
        path = self._file(directory)
        if taken != self._known.get(directory) or not path.exists():
            rows = [[name, signature, state.stored()] for name, (signature, state) in taken.index.items()]
            atomic_write(
                path, json.dumps({"index": rows, "unknown": sorted(taken.unknown), "is_shared": taken.is_shared})
            )
        self._known[directory] = taken

    def _file(self, directory: Path) -> Path:
        return self._folder / f"{hashlib.sha256(os.fsencode(directory)).hexdigest()[:32]}.json"


def _above(path: str) -> Iterator[str]:
    """The path itself, and each folder above it."""
    while path:
        yield path
        path = path.rpartition("/")[0]


def _read(path: Path) -> Snapshot:
    return _parsed(path) or Snapshot({})


def _parsed(path: Path) -> Snapshot | None:
    """Read an index; None for one that is not there, or damaged: an empty one would have everything made by a run."""
    try:
        found = json.loads(read_regular(path, _INDEX_BYTES))
        if isinstance(found, list):  # one of before 2026-12
            found = {"index": found, "unknown": [], "is_shared": False}
        rows = found["index"]
        index = {name: (signature and Signature(*signature), State.read(state)) for name, signature, state in rows}
        return Snapshot(index, frozenset(found["unknown"]), found["is_shared"])
    except (OSError, ValueError, TypeError, KeyError, InvalidInput):
        return None
