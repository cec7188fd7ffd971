"""The search for folders of the vault that have a context: bounded in depth, number and time."""

import stat
import time
from collections.abc import Sequence
from pathlib import Path

from msgspec import field

from parachute.base.answers import Answer
from parachute.base.folders import Entries, Folder, TooMany
from parachute.chat.contexts.models import NAMES, is_text, on_one_line, tokens_of_size
from parachute.security.permissions.vault_files import may_list

_DEEPEST = 12
_MOST_ENTRIES = 200_000
_MOST_FOLDERS = 2_000
_SECONDS = 5.0

_SKIPPED = frozenset(("node_modules", "__pycache__", "site-packages", "venv", "target", "dist", "build"))
"""Folders in which programs keep what they have made or loaded."""


class ContextFolder(Answer, frozen=True):
    """A folder of the vault with such a file, as the app reads it (contract, section 6)."""

    path: str
    context_file: str
    has_agents_md: bool
    has_claude_md: bool
    display_name: str
    tokens: int
    is_by_agent: bool = field(default=False, name="changed_by_agent")

    @property
    def file(self) -> str:
        """The path of the file that counts."""
        return f"{self.path}/{self.context_file}" if self.path else self.context_file


class FolderList(Answer, frozen=True):
    """The folders of the vault; `problem` says why some may be absent."""

    folders: tuple[ContextFolder, ...] = ()
    problem: str | None = None


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
    names = [name for name in NAMES if name in sizes]
    if not names:
        return []
    title = on_one_line(place.rpartition("/")[2]) or "Root"
    has_agents_md, has_claude_md = (name in sizes for name in NAMES)
    tokens = tokens_of_size(sizes[names[0]])
    return [ContextFolder(place, names[0], has_agents_md, has_claude_md, title, tokens)]


def is_searched(place: str) -> bool:
    """Return whether a folder is one of those that the search enters."""
    parts = place.split("/") if place else []
    return len(parts) <= _DEEPEST and all(map(is_entered, parts))


def is_entered(name: str) -> bool:
    """Return whether a search enters a folder of this name."""
    return name not in _SKIPPED and may_list(name, hidden=False) and is_text(name)
