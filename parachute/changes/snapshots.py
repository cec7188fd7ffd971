"""Snapshots of a folder in which an agent works with the owner's own rights, so that its runs can be undone, too."""

import hashlib
import json
import os
import stat
import time
from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct

from parachute.base.errors import InvalidInput
from parachute.base.files import atomic_write, private_folder, read_regular
from parachute.base.folders import Folder
from parachute.base.signatures import Signature, signature_of
from parachute.changes.blobs import Blobs, Staged, TooLarge
from parachute.changes.differences import LONGEST, counts
from parachute.changes.links import Links
from parachute.changes.models import NOTHING, Entry, State
from parachute.changes.present import look
from parachute.changes.together import is_momentary

_MOST = 100_000
_COPIED = 50_000
"""Files and folders of which the files are copied; of those beyond, as of large ones, a link is kept."""
_DEEPEST = 100
_FILE_BYTES = 16 << 20
_TOTAL_BYTES = 2 << 30
_INDEX_BYTES = 64 << 20
_BATCH = 500
_LEFT_OUT = frozenset(("node_modules", ".venv", "__pycache__", ".direnv"))
"""Folders that programs make anew."""
_OBJECTS = "/.git/objects/"
"""Folder of objects, which git never changes, so that links keep them; new ones stay, an undo takes back the references to them."""

Index = dict[str, tuple[Signature | None, State]]


class Snapshot(Struct, frozen=True):
    """Index of a folder, with contents kept. Of `unknown` paths, and what is below them, nothing is said: an undo leaves them alone.

    `note` names what is not covered, `warning` of that what an undo would not bring back.
    """

    index: Index
    unknown: frozenset[str] = frozenset()
    note: str = ""
    warning: str = ""


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
        taking = _Taking(self._blobs, self._links, known.index)
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
        if directory is not None and taken is not None:
            self._save(directory, taken)
        (self._running / f"{number}.json").unlink(missing_ok=True)
        if next(self._running.glob("*.json"), None) is None:
            self._links.release()

    def compared(self, number: int, before: Snapshot, after: Snapshot) -> list[Entry]:
        """Return the changes between two snapshots, without what a repository that was there has got."""
        found, unknown = [], before.unknown | after.unknown
        for path in sorted(before.index.keys() | after.index.keys()):
            old, new = (each.index[path][1] if path in each.index else NOTHING for each in (before, after))
            if old == new or (unknown and any(each in unknown for each in _above(path))):
                continue
            if old == NOTHING and (place := _objects_of(path)) and place in before.index:
                continue
            old, new = self._links.settled(self._blobs, old, is_kept=True), self._links.settled(self._blobs, new)
            contents = [self._blobs.read(state.hash, LONGEST) if state.kind == "file" else b"" for state in (old, new)]
            lines = None if None in contents else counts(contents[0] or b"", contents[1] or b"")
            added, removed = lines or (None, None)
            found.append(Entry(number, path, old, new, "applying", old, added, removed))
        return found

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
            atomic_write(path, json.dumps({"index": rows, "unknown": sorted(taken.unknown)}))
        self._known[directory] = taken

    def _file(self, directory: Path) -> Path:
        return self._folder / f"{hashlib.sha256(os.fsencode(directory)).hexdigest()[:32]}.json"


class _Taking:
    """One look at a folder."""

    def __init__(self, blobs: Blobs, links: Links, known: Index) -> None:
        self._blobs = blobs
        self._links = links
        self._known = known
        self._new: list[Staged] = []
        self._missed: list[str] = []
        self._linked: list[str] = []
        self._bytes = 0
        self._unknown: set[str] = set()
        self._index: Index = {}

    def run(self, root: Folder) -> Snapshot:
        left_out: set[str] = set()
        for place, folder, entries in root.walk(deepest=_DEEPEST, most=_MOST, unreadable=self._miss):
            prefix = f"{place}/" if place else ""
            for entry in list(entries):
                if entry.name in _LEFT_OUT:
                    entries.remove(entry)
                    left_out.add(entry.name)
                else:
                    self._entry(root, folder, f"{prefix}{entry.name}", entry)
        self._keep()
        found = []
        if self._missed:
            found.append(f"Not covered: {_named(self._missed)}.")
        if self._linked:
            found.append(f"Brought back when deleted, not when written over: {_named(self._linked)}.")
        warning = " ".join(found)
        if left_out:
            found.append(f"Left out: {', '.join(sorted(left_out))}.")
        return Snapshot(self._index, frozenset(self._unknown), " ".join(found), warning)

    def _entry(self, root: Folder, folder: Folder, path: str, entry: os.DirEntry[str]) -> None:
        try:
            status = entry.stat(follow_symlinks=False)
        except OSError:
            return
        if is_momentary(root, root, path):
            self._unknown.add(path)
            return
        is_object = _objects_of(path) and stat.S_ISREG(status.st_mode)
        if is_object and self._link(folder, path, status):
            return
        signature = signature_of(status)
        known = self._known.get(path)
        if known is not None and known[0] == signature:
            self._bytes += signature.size if known[1].kind == "file" else 0
            self._index[path] = known
            return
        limit = min(_FILE_BYTES, _TOTAL_BYTES - self._bytes) if len(self._index) < _COPIED else -1
        try:
            path.encode()
            present = look(self._blobs, root, path, limit)
        except TooLarge:
            if self._link(folder, path, status):
                self._linked.append(path)
            else:
                self._miss(path)
            return
        except (OSError, InvalidInput, UnicodeEncodeError):
            self._miss(path)
            return
        if present.state.kind not in ("file", "folder", "link") or present.signature is None:
            self._unknown.add(path)
            return
        if present.content is not None:
            self._bytes += present.content.size
            self._new.append(present.content)
            if len(self._new) >= _BATCH:
                self._keep()
        is_sure = present.signature.differs_later(time.time_ns())
        self._index[path] = present.signature if is_sure else None, present.state

    def _link(self, folder: Folder, path: str, status: os.stat_result) -> bool:
        state = self._links.hold(folder, path.rpartition("/")[2], status)
        if state is not None:
            # Without a signature it is linked again by each snapshot: the link goes with the run.
            self._index[path] = None, state
        return state is not None

    def _miss(self, path: str, _: object = None) -> None:
        self._missed.append(path)
        self._unknown.add(path)

    def _keep(self) -> None:
        # Not waited for: a power cut in the next seconds costs no more than this undo, and contents are compared with their names.
        self._blobs.keep(self._new, synced=False)
        self._new = []


def _named(paths: list[str]) -> str:
    others = f" and {len(paths) - 1:,} others" if len(paths) > 1 else ""
    return f"{min(paths)}{others}"


def _objects_of(path: str) -> str:
    """The folder of git's objects that a path is in, empty where it is in none."""
    before, found, _ = f"/{path}".partition(_OBJECTS)
    return f"{before}{found}".strip("/") if found else ""


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
        rows, unknown = (found["index"], found["unknown"]) if isinstance(found, dict) else (found, ())
        index = {name: (signature and Signature(*signature), State.read(state)) for name, signature, state in rows}
        return Snapshot(index, frozenset(unknown))
    except (OSError, ValueError, TypeError, KeyError, InvalidInput):
        return None
