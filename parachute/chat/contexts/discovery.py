"""The search for folders of the vault that have a context: bounded in depth, number and time."""

import stat
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct

from parachute.base.folders import Entries, Folder, TooMany
from parachute.chat.contexts.models import NAMES, is_text, on_one_line, tokens_of_size
from parachute.security.permissions.vault_files import may_list

_DEEPEST = 12
_MOST_ENTRIES = 200_000
_MOST_FOLDERS = 2_000
_SECONDS = 5.0

_SKIPPED = frozenset(("node_modules", "__pycache__", "site-packages", "venv", "target", "dist", "build"))
"""Folders in which programs keep what they have made or loaded."""


class ContextFolder(Struct, frozen=True):
    """A folder of the vault with such a file; `size` is that of the file in bytes."""

    path: str
    names: tuple[str, ...]
    size: int
    is_by_agent: bool = False

    @property
    def file(self) -> str:
        """The path of the file that counts."""
        return f"{self.path}/{self.names[0]}" if self.path else self.names[0]

    def as_json(self) -> dict[str, Any]:
        """The app's form (contract, section 6), and what else there is to know."""
        return {
            "path": self.path,
            "context_file": self.names[0],
            "has_agents_md": NAMES[0] in self.names,
            "has_claude_md": NAMES[1] in self.names,
            "display_name": on_one_line(self.path.rpartition("/")[2]) or "Root",
            "tokens": tokens_of_size(self.size),
            "changed_by_agent": self.is_by_agent,
        }


class FolderList(Struct, frozen=True):
    """The folders of the vault; `problem` says why some may be absent."""

    folders: tuple[ContextFolder, ...] = ()
    problem: str | None = None

    def as_json(self) -> dict[str, Any]:
        """The app's form (contract, section 6)."""
        return {"folders": [each.as_json() for each in self.folders], "problem": self.problem}


def find_folders(root: Path, seconds: float = _SECONDS) -> FolderList:
    """The folders of the vault with AGENTS.md or CLAUDE.md, by path; waits for the disk. Error: OSError without a vault."""
    found, until = list[ContextFolder](), time.monotonic() + seconds
    problem: str | None = None
    with Folder.open(root) as top:
        try:
            for place, _, entries in top.walk(deepest=_DEEPEST, most=_MOST_ENTRIES, unreadable=lambda *_: None):
                found += _folder(place, entries)
                entries[:] = [each for each in entries if is_entered(each.name)]
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


def is_searched(place: str) -> bool:
    """Return whether a folder is one of those that the search enters."""
    parts = place.split("/") if place else []
    return len(parts) <= _DEEPEST and all(map(is_entered, parts))


def is_entered(name: str) -> bool:
    """Return whether a search enters a folder of this name."""
    return name not in _SKIPPED and may_list(name, hidden=False) and is_text(name)
