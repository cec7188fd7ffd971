"""A look at a folder: contents are copied, and of what is too much a link is kept."""

import os
import stat
import time

from msgspec import Struct

from parachute.base.errors import InvalidInput
from parachute.base.folders import Folder
from parachute.base.signatures import Signature, signature_of
from parachute.changes.blobs import Blobs, Staged, TooLarge
from parachute.changes.links import Links
from parachute.changes.models import State
from parachute.changes.present import look
from parachute.changes.together import is_momentary

_MOST = 100_000
_COPIED = 50_000
"""Files that one look copies; of those beyond, as of large ones, a link is kept, and the next look copies more."""
_DEEPEST = 100
_FILE_BYTES, _SHARED_FILE_BYTES = 16 << 20, 1 << 20
"""Largest file that is copied; in a vault there are recordings and pictures, which nobody writes over."""
_TOTAL_BYTES = 2 << 30
_BATCH = 500
_LEFT_OUT = frozenset(("node_modules", ".venv", "__pycache__", ".direnv"))
"""Folders that programs make anew."""
_STATE = ".parachute"
_SERVERS = frozenset((_STATE, ".claude/projects"))
"""Folders of a vault in which the server and the programs of all conversations write all the time; backups have them."""
_OBJECTS = "/.git/objects/"
"""Folder of objects, which git never changes, so that links keep them; new ones stay, an undo takes back the references to them."""

Index = dict[str, tuple[Signature | None, State]]


class Snapshot(Struct, frozen=True):
    """Index of a folder, with contents kept. Of `unknown` paths, and what is below them, nothing is said: an undo leaves them alone.

    In one that `is_shared` others write all the time, as in the vault: what is new or was only added to is not the run's.
    `note` names what is not covered, `warning` of that what an undo would not bring back.
    """

    index: Index
    unknown: frozenset[str] = frozenset()
    is_shared: bool = False
    note: str = ""
    warning: str = ""


class Taking:
    """One look at a folder; what is as it was in a `known` index is not read again. It waits for the disk."""

    def __init__(self, blobs: Blobs, links: Links, known: Index) -> None:
        self._blobs = blobs
        self._links = links
        self._known = known
        self._new: list[Staged] = []
        self._missed: list[str] = []
        self._linked: list[str] = []
        self._bytes = self._copied = 0
        self._is_shared = False
        self._unknown: set[str] = set()
        self._index: Index = {}

    def run(self, root: Folder) -> Snapshot:
        """Look at everything. Errors: TooMany, OSError."""
        self._is_shared = root.status(_STATE) is not None
        left_out: set[str] = set()
        for place, folder, entries in root.walk(deepest=_DEEPEST, most=_MOST, unreadable=self._miss):
            prefix = f"{place}/" if place else ""
            for entry in list(entries):
                path = f"{prefix}{entry.name}"
                if entry.name in _LEFT_OUT or (self._is_shared and path in _SERVERS):
                    entries.remove(entry)
                    left_out.add(path if path in _SERVERS else entry.name)
                else:
                    self._entry(root, folder, path, entry)
        self._keep()
        found = []
        if self._missed:
            found.append(f"Not covered: {_named(self._missed)}.")
        linked = f"Brought back when deleted, not when written over: {_named(self._linked)}." if self._linked else ""
        warning = " ".join([*found, linked] if linked and not self._is_shared else found)
        found += [linked] if linked else []
        if left_out:
            found.append(f"Left out: {', '.join(sorted(left_out))}.")
        return Snapshot(self._index, frozenset(self._unknown), self._is_shared, " ".join(found), warning)

    def _entry(self, root: Folder, folder: Folder, path: str, entry: os.DirEntry[str]) -> None:
        try:
            status = entry.stat(follow_symlinks=False)
        except OSError:
            return
        signature, known = signature_of(status), self._known.get(path)
        if known is not None and known[0] == signature:
            self._bytes += signature.size if known[1].kind == "file" else 0
            self._index[path] = known
            return
        if is_momentary(root, root, path):
            self._unknown.add(path)
            return
        if objects_of(path) and stat.S_ISREG(status.st_mode) and self._link(folder, path, status, is_fixed=True):
            return
        most = _SHARED_FILE_BYTES if self._is_shared else _FILE_BYTES
        limit = min(most, _TOTAL_BYTES - self._bytes) if self._copied < _COPIED else -1
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
            self._copied += 1
            self._new.append(present.content)
            if len(self._new) >= _BATCH:
                self._keep()
        is_sure = present.signature.differs_later(time.time_ns())
        self._index[path] = present.signature if is_sure else None, present.state

    def _link(self, folder: Folder, path: str, status: os.stat_result, *, is_fixed: bool = False) -> bool:
        state = self._links.hold(folder, path.rpartition("/")[2], status, is_fixed=is_fixed)
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


def objects_of(path: str) -> str:
    """The folder of git's objects that a path is in, empty where it is in none."""
    before, found, _ = f"/{path}".partition(_OBJECTS)
    return f"{before}{found}".strip("/") if found else ""
