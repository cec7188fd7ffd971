"""Files of a project that programs of the owner obey: by name, by git's configuration, and through links."""

import os
from collections.abc import Collection
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from parachute.base.errors import InvalidInput
from parachute.base.folders import Folder
from parachute.base.steering.imports import Allowance, imported, references
from parachute.base.steering.judging import folded, holds_obeyed, is_obeyed, is_told, may_depend
from parachute.base.steering.names import REPOSITORY
from parachute.changes.models import Reason
from parachute.core import front_matter
from parachute.sandbox.engines.protected import obeyed_by_git

_LONGEST = 1024 * 1024
_OWN = ("AGENTS.md", "CLAUDE.md")
_MOST_TOLD = 16
"""Files at the top of a project that are looked through."""

_BARE = (frozenset(("head", "objects", "refs")), frozenset(("head", "commondir")))
"""Names by which git takes a folder for a repository: the second one borrows the rest from another folder."""


class _Text(NamedTuple):
    imports: tuple[str, ...]
    size: int


def linked_instructions(project: Folder) -> frozenset[str]:
    """Paths in a project, as `folded`, that agents are told by way of its top: links lead there, or files import them. Waits for the disk."""
    told = [each for each in project.entries() if is_told(each.name)]
    found = {os.path.normpath(project.link(each.name)) for each in told if each.is_symlink()}
    # Those of this computer first: an agent may make as many others as there are ways to write their names.
    files = sorted(
        (each.name for each in told if each.is_file(follow_symlinks=False)), key=lambda name: (name not in _OWN, name)
    )

    def read(path: str) -> _Text | None:
        try:
            text = project.read(path, _LONGEST).decode(errors="replace")
        except (OSError, InvalidInput):
            return None
        return _Text(references(front_matter.split(text).body), len(text))

    for name in files[:_MOST_TOLD]:
        # An allowance of its own: what one brings takes nothing from what is known of another.
        if (text := read(name)) is not None:
            brought = imported(name, text, "", read, Allowance())
            found |= {each.path for each in brought if each.file is not None}
    return frozenset(map(folded, found))


def reason_of(name: str, names: Collection[str], above: str = "") -> Reason | None:
    """Return why a file of this name is held, where `names` are together in a folder called `above`; None if it is not."""
    if name.casefold() == REPOSITORY:
        return "repository"
    return "obeyed" if is_obeyed(name, names, above) else None


_OF_THE_SYSTEM = ("/usr/bin/", "/usr/lib/", "/usr/share/", "/nix/store/")
"""Folders in which nothing is the owner's: a virtual environment of Python has links there."""


def named_by_git(project: Path) -> frozenset[str]:
    """Paths in a project that git obeys since a configuration of the owner's names them: folders of hooks, and included files.

    Error: InvalidInput where it names the project itself, OSError. Waits for the disk.
    """
    with Folder.open_unlinked(project) as root:
        return frozenset(name for name, _ in obeyed_by_git(project, root))


def is_named(path: str, named: Collection[str]) -> bool:
    """Return whether a path is one of those, or lies below it."""
    return any(path == each or path.startswith(f"{each}/") for each in named)


def leads_to(path: str, named: Collection[str]) -> bool:
    """Return whether a link at a path would be on the way to one of those."""
    return any(each.startswith(f"{path}/") for each in named)


def may_matter(names: Collection[str]) -> bool:
    """Return whether what else is in the folder decides about one of these names."""
    small = {name.casefold() for name in names}
    return any(small & each for each in _BARE) or may_depend(small)


def is_bare(names: Collection[str]) -> bool:
    """Return whether git would take a folder with these names for a repository."""
    small = {name.casefold() for name in names}
    return any(small >= each for each in _BARE)


def leads_out(path: str, text: str) -> bool:
    """Return whether a link at `path` may lead out of the project, or to what is held: only leading `..` can be judged."""
    parts = PurePosixPath(text).parts
    if text.startswith(_OF_THE_SYSTEM) and ".." not in parts:
        return False
    up = next((number for number, part in enumerate(parts) if part != ".."), len(parts))
    if not text or text.startswith("/") or ".." in parts[up:] or up > path.count("/"):
        return True
    return holds_obeyed("/".join(parts[up:]))
