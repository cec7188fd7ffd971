"""What programs of the owner obey as soon as it lies in a project: one table for names at any depth, and for links."""

import os
from collections.abc import Collection
from pathlib import Path, PurePosixPath

from parachute.base.folders import Folder
from parachute.chat.changes.models import Reason
from parachute.sandbox.engines.protected import obeyed_by_git
from parachute.sandbox.engines.run_later import FILES, FOLDERS, PRESENT_ONLY, present_only

GIT = ".git"
ENVIRONMENT = ".envrc"
_NAMES = frozenset((*FOLDERS, *FILES, *PRESENT_ONLY))
_BARE = (frozenset(("head", "objects", "refs")), frozenset(("head", "commondir")))
"""Names by which git takes a folder for a repository: the second one borrows the rest from another folder."""


_INSTRUCTIONS = frozenset(
    (
        *("agents.md", "agents.override.md", "claude.md", "claude.local.md", "copilot-instructions.md", "gemini.md"),
        *(
            "qwen.md",
            "skill.md",
            ".aiderules",
            ".clinerules",
            ".cursorrules",
            ".goosehints",
            ".rules",
            ".windsurfrules",
        ),
    )
)
"""Files and folders that agents are told, or read as instructions; what the owner alone has said may be written there."""


def is_instruction(path: str) -> bool:
    """Return whether agents take what is at a path for instructions."""
    return any(part.casefold() in _INSTRUCTIONS for part in path.split("/"))


def linked_instructions(project: Folder) -> frozenset[str]:
    """Paths in a project to which links of that name at its top lead: agents are told what is there. Waits for the disk."""
    links = [each.name for each in project.entries() if each.is_symlink() and is_instruction(each.name)]
    return frozenset(os.path.normpath(project.link(name)) for name in links)


def reason_of(name: str, names: Collection[str]) -> Reason | None:
    """Why something of this name is held, where `names` are together in one folder; None if it is not."""
    # Some disks know no difference between small and capital letters.
    folded = name.casefold()
    if folded == GIT:
        return "repository"
    if folded in _NAMES or folded in present_only({each.casefold() for each in names} | {folded}):
        return "obeyed"
    return None


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
    folded = {name.casefold() for name in names}
    return any(folded & each for each in _BARE) or bool(set(present_only({*folded, ENVIRONMENT})) - {ENVIRONMENT})


def is_bare(names: Collection[str]) -> bool:
    """Return whether git would take a folder with these names for a repository."""
    folded = {name.casefold() for name in names}
    return any(folded >= each for each in _BARE)


def leads_out(path: str, text: str) -> bool:
    """Return whether a link at `path` may lead out of the project, or to what is held: only leading `..` can be judged."""
    parts = PurePosixPath(text).parts
    if text.startswith(_OF_THE_SYSTEM) and ".." not in parts:
        return False
    up = next((number for number, part in enumerate(parts) if part != ".."), len(parts))
    if not text or text.startswith("/") or ".." in parts[up:] or up > path.count("/"):
        return True
    return any(reason_of(part, ()) for part in parts[up:])
