"""Hard links to files that are not copied, large ones and those that git never changes: they keep each until the run has ended."""

import hashlib
import os
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from parachute.base.folders import Folder
from parachute.changes.blobs import Blobs
from parachute.changes.models import State

LOST = "lost"
"""The hash of a content that was overwritten where it stood: nothing has it any more."""
_PREFIX, _FIXED = "link-", "-fixed"
_CHUNK = 1 << 20


def is_linked(state: State) -> bool:
    """Return whether a state names a link, and no content by its hash."""
    return state.kind == "file" and state.hash.startswith(_PREFIX)


def is_same_file(one: State, other: State) -> bool:
    """Return whether two states are of one file, that may have changed in between."""
    return is_linked(one) and is_linked(other) and one.hash.split("-")[1] == other.hash.split("-")[1]


class Links:
    """Links in one folder, named by inode, size and time. Its methods wait for the disk."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._hashes: dict[str, str] = {}

    def hold(self, folder: Folder, name: str, status: os.stat_result, *, is_fixed: bool) -> State | None:
        """Link a regular file, and return its state; None where it cannot be linked: on another disk, or of another user.

        Of one that `is_fixed` nobody changes the content, though its time: git touches objects that it would make again.
        """
        link = _name(status, is_fixed=is_fixed)
        try:
            folder.hard_link(name, self.folder / link)
        except FileExistsError:
            pass
        except OSError:
            return None
        return State("file", status.st_mode & 0o7777, link, status.st_size, status.st_mtime_ns)

    def settled(self, blobs: Blobs, state: State, *, is_kept: bool = False) -> State:
        """The same state with the hash of its content, which is kept from now on if it `is_kept`; LOST where it was overwritten."""
        if not is_linked(state):
            return state
        with suppress(OSError), Folder.open(self.folder) as folder:
            status = folder.status(state.hash)
            if status is not None and _name(status, is_fixed=state.hash.endswith(_FIXED)) == state.hash:
                if state.hash not in self._hashes:
                    self._hashes[state.hash] = _digest(folder, state.hash)
                digest = self._hashes[state.hash]
                if is_kept:
                    blobs.adopt(self.folder / state.hash, digest, state.size)
                return replace(state, hash=digest)
        return replace(state, hash=LOST)

    def release(self) -> None:
        """Remove all links: no run is under way any more."""
        self._hashes.clear()
        with Folder.open(self.folder) as folder:
            for each in [entry.name for entry in folder.entries()]:
                folder.remove(each)


def _digest(folder: Folder, name: str) -> str:
    digest = hashlib.sha256()
    with folder.file(name) as file:
        for chunk in iter(lambda: file.read(_CHUNK), b""):
            digest.update(chunk)
    return digest.hexdigest()


def _name(status: os.stat_result, *, is_fixed: bool) -> str:
    return f"{_PREFIX}{status.st_ino}-{status.st_size}{_FIXED if is_fixed else f'-{status.st_mtime_ns}'}"
