"""Snapshots of a folder in which an agent works with the owner's own rights, so that its runs can be undone, too."""

import hashlib
import json
import os
import time
from pathlib import Path

from msgspec import Struct

from parachute.base.errors import InvalidInput
from parachute.base.files import atomic_write, private_folder, read_regular
from parachute.base.folders import Folder, TooMany
from parachute.base.signatures import Signature, signature_of
from parachute.changes.blobs import Blobs, Staged, TooLarge
from parachute.changes.differences import LONGEST, counts
from parachute.changes.models import NOTHING, Entry, State
from parachute.changes.present import look
from parachute.changes.together import is_momentary

_MOST = 50_000
_DEEPEST = 100
_FILE_BYTES = 16 << 20
_TOTAL_BYTES = 2 << 30
_INDEX_BYTES = 64 << 20
_BATCH = 500
_LEFT_OUT = frozenset(("node_modules", ".venv", "__pycache__", ".direnv"))
"""Folders that programs make anew."""
_OBJECTS = ".git/objects"
"""Folder of objects, which git never changes: an undo takes back the references to it."""

Index = dict[str, tuple[Signature | None, State]]


class Snapshot(Struct):
    """Index of a folder, with every content kept, and a sentence about omitted files."""

    index: Index
    note: str


class Snapshots:
    """Takes snapshots; the last one of each folder is kept, so that only what has changed is read again. It waits for the disk."""

    def __init__(self, blobs: Blobs, folder: Path) -> None:
        self._blobs = blobs
        self._folder = folder
        self._known: dict[Path, Index] = {}

    def take(self, directory: Path) -> Snapshot:
        """Look at a folder. Error: OSError."""
        known = self._known.get(directory)
        if known is None:
            known = self._read(directory)
        taken = _Taking(self._blobs, known)
        with Folder.open_unlinked(directory) as root:
            taken.run(root)
        if taken.is_changed or len(taken.index) != len(known):
            self._write(directory, taken.index)
        self._known[directory] = taken.index
        return Snapshot(taken.index, taken.note)

    def hashes(self) -> set[str]:
        """The contents that the last snapshots name."""
        found = set()
        for path in self._folder.glob("*.json"):
            found |= {state.hash for _, state in _parsed(path).values()}
        return found

    def _read(self, directory: Path) -> Index:
        return _parsed(self._file(directory))

    def _write(self, directory: Path, index: Index) -> None:
        rows = [[path, signature, state.stored()] for path, (signature, state) in index.items()]
        private_folder(self._folder)
        atomic_write(self._file(directory), json.dumps(rows))

    def _file(self, directory: Path) -> Path:
        return self._folder / f"{hashlib.sha256(os.fsencode(directory)).hexdigest()[:32]}.json"


def compared(blobs: Blobs, number: int, before: Index, after: Index) -> list[Entry]:
    """Return the changes between two snapshots; it waits for the disk."""
    found = []
    for path in sorted(before.keys() | after.keys()):
        old, new = (index[path][1] if path in index else NOTHING for index in (before, after))
        if old != new:
            contents = [blobs.read(state.hash, LONGEST) if state.kind == "file" else b"" for state in (old, new)]
            lines = None if None in contents else counts(contents[0] or b"", contents[1] or b"")
            added, removed = lines or (None, None)
            found.append(Entry(number, path, old, new, "applying", old, added, removed))
    return found


class _Taking:
    """One look at a folder."""

    def __init__(self, blobs: Blobs, known: Index) -> None:
        self._blobs = blobs
        self._known = known
        self._new: list[Staged] = []
        self._missed = 0
        self._bytes = 0
        self.index: Index = {}
        self.is_changed = False
        self.note = ""

    def run(self, root: Folder) -> None:
        left_out: set[str] = set()
        try:
            for place, _, entries in root.walk(deepest=_DEEPEST, most=_MOST, unreadable=lambda *_: self._miss()):
                prefix = f"{place}/" if place else ""
                for entry in list(entries):
                    path = f"{prefix}{entry.name}"
                    if entry.name in _LEFT_OUT or path == _OBJECTS:
                        entries.remove(entry)
                        if path != _OBJECTS:
                            left_out.add(entry.name)
                        continue
                    self._entry(root, path, entry)
        except TooMany:
            self.note = f"Only {_MOST:,} files and folders are covered. "
        self._keep()
        if self._missed:
            self.note += f"Not covered: {self._missed} files that are large or cannot be read. "
        if left_out:
            self.note += f"Left out: {', '.join(sorted(left_out))}."
        self.note = self.note.strip()

    def _entry(self, root: Folder, path: str, entry: os.DirEntry[str]) -> None:
        try:
            status = entry.stat(follow_symlinks=False)
        except OSError:
            return
        if is_momentary(root, root, path):
            return
        signature = signature_of(status)
        known = self._known.get(path)
        if known is not None and known[0] == signature:
            self._bytes += signature.size if known[1].kind == "file" else 0
            self.index[path] = known
            return
        self.is_changed = True
        try:
            path.encode()
            present = look(self._blobs, root, path, min(_FILE_BYTES, _TOTAL_BYTES - self._bytes))
        except (OSError, InvalidInput, TooLarge, UnicodeEncodeError):
            return self._miss()
        if present.state.kind not in ("file", "folder", "link") or present.signature is None:
            return None
        if present.content is not None:
            self._bytes += present.content.size
            self._new.append(present.content)
            if len(self._new) >= _BATCH:
                self._keep()
        is_sure = present.signature.differs_later(time.time_ns())
        self.index[path] = present.signature if is_sure else None, present.state
        return None

    def _miss(self) -> None:
        self._missed += 1

    def _keep(self) -> None:
        # Not waited for: a power cut in the next seconds costs no more than this undo, and contents are compared with their names.
        self._blobs.keep(self._new, synced=False)
        self._new = []


def _parsed(path: Path) -> Index:
    try:
        rows = json.loads(read_regular(path, _INDEX_BYTES))
        return {name: (signature and Signature(*signature), State.read(state)) for name, signature, state in rows}
    except (OSError, ValueError, TypeError, InvalidInput):
        return {}
