"""The search for folders of the vault that have a context: bounded in depth, number and time."""

import stat
import time
from collections.abc import Sequence
from pathlib import Path

from parachute.base.folders import Entries, Folder, TooMany
from parachute.chat.contexts.models import NAMES, ContextFolder, FolderList
from parachute.security.permissions.paths import is_secret

_DEEPEST = 12
_MOST_ENTRIES = 200_000
_MOST_FOLDERS = 2_000
_SECONDS = 5.0

_SKIPPED = frozenset(("node_modules", "__pycache__", "site-packages", "venv", "target", "dist", "build"))
"""Folders in which programs keep what they have made or loaded."""


def find_folders(root: Path, seconds: float = _SECONDS) -> FolderList:
    """The folders of the vault with AGENTS.md or CLAUDE.md, by path; waits for the disk. Error: OSError without a vault."""
    found, until = list[ContextFolder](), time.monotonic() + seconds
    problem: str | None = None
    with Folder.open(root) as top:
        try:
            for place, _, entries in top.walk(deepest=_DEEPEST, most=_MOST_ENTRIES, unreadable=lambda *_: None):
                found += _folder(place, entries)
                entries[:] = [each for each in entries if _is_entered(each.name)]
                if len(found) >= _MOST_FOLDERS:
                    problem = f"There are more than {_MOST_FOLDERS:,} such folders."
                    break
                if time.monotonic() > until:
                    problem = f"The vault is too large to be searched in {seconds:g} seconds."
                    break
        except TooMany:
            problem = f"The vault has more than {_MOST_ENTRIES:,} files and folders."
    return FolderList(tuple(sorted(found, key=lambda each: each.path)), problem)


def _folder(place: str, entries: Entries) -> Sequence[ContextFolder]:
    sizes = dict[str, int]()
    for entry in entries:
        if entry.name in NAMES:
            try:
                status = entry.stat(follow_symlinks=False)
            except OSError:  # gone meanwhile
                continue
            if stat.S_ISREG(status.st_mode):
                sizes[entry.name] = status.st_size
    names = tuple(name for name in NAMES if name in sizes)
    return [ContextFolder(place, names, sizes[names[0]])] if names else []


def _is_entered(name: str) -> bool:
    return not name.startswith(".") and name not in _SKIPPED and not is_secret(name)
