"""The folders of a project below a mounted view: whether somebody else made, replaced or removed something in one.

The kernel keeps what it has looked up in a view. What the owner makes, replaces or removes below it is not sure to be seen
through it (Documentation/filesystems/overlayfs.rst, "Changes to underlying filesystems"); a new view shows it.
"""

import os
from collections.abc import Container, Iterable
from contextlib import suppress
from typing import Protocol

from msgspec import Struct, field

from parachute.base.folders import Folder
from parachute.sandbox.engines.views import is_foreign

_MOST = 100_000
"""Entries that are remembered; in a larger project every change of a folder counts as the owner's."""


class _IsOurs(Protocol):
    def __call__(self, path: str, *, is_there: bool = True) -> bool: ...


class _Seen(Struct):
    modified_ns: int
    inodes: dict[str, int]
    is_foreign: bool


class FoldersBelow(Struct):
    """The folders of a project as they were at the last look, the first of which comes before an agent looks at the view."""

    _folders: dict[str, _Seen] = field(default_factory=dict)
    _entries: int = 0
    foreign: set[str] = field(default_factory=set)
    """Folders in which an agent cannot write, since they have another group or owner."""

    def look(self, project: Folder, upper: Folder, written: Container[str] = (), parts: Iterable[str] = ("",)) -> bool:
        """Return whether somebody else has changed one of these parts of a folder since the last look; it waits for the disk.

        What was `written` to the project, and what is in the upper folder of the view, is what its agent did.
        """

        def is_ours(path: str, *, is_there: bool = True) -> bool:
            return path in written or _is_in(upper, path, is_there)

        if not self._folders:
            for part in parts:
                self._add(project, is_ours, part)
            return False
        is_changed = False
        for path in list(self._folders):
            # One below a folder that has gone is forgotten by now.
            if path in self._folders:
                is_changed |= self._look_again(project, is_ours, path)
        return is_changed

    def _look_again(self, project: Folder, is_ours: _IsOurs, path: str) -> bool:
        seen = self._folders[path]
        try:
            status = project.status(path) if path else os.fstat(project.fileno())
            if status is not None and status.st_mtime_ns == seen.modified_ns:
                self._note_foreign(path, is_foreign(status))
                return False
            now = _listed(project, path)
        except OSError:
            self._forget(path)
            return not is_ours(path, is_there=False)
        is_known = self._entries <= _MOST
        self._replace(path, now)
        changed = [
            name for name in seen.inodes.keys() | now.inodes.keys() if seen.inodes.get(name) != now.inodes.get(name)
        ]
        is_changed = not is_known or not all(
            is_ours(_joined(path, name), is_there=name in now.inodes) for name in changed
        )
        for name in changed:
            self._forget(_joined(path, name))
            is_changed |= self._add(project, is_ours, _joined(path, name))
        return is_changed

    def _add(self, project: Folder, is_ours: _IsOurs, path: str) -> bool:
        """Remember a folder, if it is one, and those below it; return whether one has something of the owner's."""
        is_owners, waiting = False, [path]
        while waiting:
            folder = waiting.pop()
            with suppress(OSError):
                self._replace(folder, _listed(project, folder, waiting))
                names = (_joined(folder, name) for name in self._folders[folder].inodes)
                is_owners = is_owners or not all(is_ours(name) for name in names)
        return is_owners

    def _replace(self, path: str, now: _Seen) -> None:
        before = self._folders.get(path)
        self._note_foreign(path, now.is_foreign)
        self._entries += len(now.inodes) - (len(before.inodes) if before else 0)
        self._folders[path] = now if self._entries <= _MOST else _Seen(now.modified_ns, {}, now.is_foreign)

    def _note_foreign(self, path: str, is_so: bool) -> None:
        (self.foreign.add if is_so else self.foreign.discard)(path)

    def _forget(self, path: str) -> None:
        if path in self._folders:
            for each in [name for name in self._folders if name == path or name.startswith(f"{path}/")]:
                self._entries -= len(self._folders.pop(each).inodes)
                self.foreign.discard(each)


def _listed(project: Folder, path: str, folders: list[str] | None = None) -> _Seen:
    """A folder's time, taken before its entries; those that are folders are added to `folders`. Error: OSError."""
    with project.folder(path) as folder:
        status = os.fstat(folder.fileno())
        inodes = {}
        for entry in folder.entries():
            inodes[entry.name] = entry.inode()
            if folders is not None and entry.is_dir(follow_symlinks=False):
                folders.append(_joined(path, entry.name))
    return _Seen(status.st_mtime_ns, inodes, is_foreign(status))


def _joined(path: str, name: str) -> str:
    return f"{path}/{name}" if path else name


def _is_in(upper: Folder, path: str, is_there: bool) -> bool:
    """Return whether the agent of the view wrote to a path, or removed it or a folder above it."""
    try:
        return upper.status(path) is not None
    except OSError:
        return not is_there  # a folder above it is none any more: the agent has put nothing there
