"""What programs of the user obey as soon as they see it in a project, and looking for it in all of a folder."""

import os
from collections.abc import Collection
from pathlib import Path

from parachute.errors import InvalidInput

FOLDERS = (
    *(
        ".amazonq",
        ".claude",
        ".codex",
        ".continue",
        ".cursor",
        ".devcontainer",
        ".fleet",
        ".gemini",
        ".hg",
        ".idea",
        ".jj",
    ),
    *(".kiro", ".obsidian", ".opencode", ".roo", ".vscode", ".windsurf", ".zed"),
)
"""What editors, other agents and version control read as soon as they open a project."""

FILES = {".mcp.json": b'{"mcpServers": {}}\n', "opencode.json": b"{}\n"}
"""The same, with what holds the place of a missing one."""

PRESENT_ONLY = (
    *(
        ".bash_login",
        ".bash_logout",
        ".bash_profile",
        ".bashrc",
        ".profile",
        ".zlogin",
        ".zprofile",
        ".zshenv",
        ".zshrc",
    ),
    *(".agents", ".aider.conf.yml", ".devcontainer.json", ".dir-locals.el", ".envrc", ".exrc", ".githooks", ".husky"),
    *(".lefthook.yml", ".nvim.lua", ".nvimrc", ".pre-commit-config.yaml", ".vimrc", "lefthook.yml", "opencode.jsonc"),
)
"""What runs only where it is there already: in a home, or after the user has named or allowed it."""

_SUFFIX = ".code-workspace"
_ENVIRONMENT = ".envrc"
_READ_BY_ENVIRONMENT = (".env", "flake.lock", "flake.nix", "shell.nix")
"""What direnv reads again without asking, where the user has allowed an `.envrc`."""

_NAMES = frozenset((*FOLDERS, *FILES, *PRESENT_ONLY))
_REPOSITORY = ".git"
_BARE = frozenset(("HEAD", "objects", "refs"))
_ENTRIES = 500_000
_MOST = 200


def present_only(names: Collection[str]) -> list[str]:
    """Those among the names in one folder that are obeyed where they are, and that nothing has to hold the place of."""
    found = [name for name in names if name in PRESENT_ONLY or name.endswith(_SUFFIX)]
    return found + [name for name in _READ_BY_ENVIRONMENT if _ENVIRONMENT in names and name in names]


def look_below(project: Path, known: Collection[str] = ()) -> list[tuple[str, bool]]:
    """What is obeyed further down in a project than at its top, each with whether it is a file; not what lies in `known`.

    What only holds a place for another box is left out. Waits for the disk, long for a large project. Error: InvalidInput for
    another repository, a link among these, and where there is too much to look through.
    """
    found: list[tuple[str, bool]] = []
    left, waiting = _ENTRIES, [""]
    while waiting:
        place = waiting.pop()
        entries = _entries(project, place)
        left -= len(entries)
        if left < 0 or len(found) > _MOST:
            raise InvalidInput(
                f"{project} holds too much to look through: {_ENTRIES:,} files, or {_MOST} that programs of yours obey, are the most.",
                "Choose a folder further down.",
                key="project_too_large",
            )
        names = {entry.name for entry in entries}
        if names >= _BARE:
            raise _other_repository(project, place or ".")
        obeyed = {*(names & _NAMES), *present_only(names)} if place else set()
        for entry in entries:
            path = f"{place}/{entry.name}" if place else entry.name
            is_folder = entry.is_dir(follow_symlinks=False)
            if path in known or (is_folder and entry.name in (*FOLDERS, _REPOSITORY) and not _entries(project, path)):
                continue
            if entry.name == _REPOSITORY:
                if place:
                    raise _other_repository(project, place)
            elif entry.name in obeyed:
                _check_kind(project, path, entry, is_folder)
                found.append((path, not is_folder))
            elif is_folder:
                waiting.append(path)
    return found


def _entries(project: Path, place: str) -> list[os.DirEntry[str]]:
    folder = project / place
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        # An agent has the rights of this user, and can no more look into what another one has closed.
        if folder.lstat().st_uid != os.geteuid():
            return []
        raise InvalidInput(
            f"{folder} cannot be looked through: {error.strerror}.", key="project_not_readable"
        ) from error


def _check_kind(project: Path, path: str, entry: os.DirEntry[str], is_folder: bool) -> None:
    if not is_folder and not entry.is_file(follow_symlinks=False):
        raise InvalidInput(
            f"{project}/{path} is a link or no file. Programs run what it leads to, and in an agent's reach it could be replaced, so "
            "that this folder cannot be given to an agent for writing.",
            "Put the file itself in its place.",
            key="project_holds_link",
        )


def _other_repository(project: Path, place: str) -> InvalidInput:
    where = "is a repository without a work tree" if place == "." else f"holds another repository, {place}"
    return InvalidInput(
        f"{project} {where}: git would obey what an agent writes there.",
        "Choose a folder without one below it." if place == "." else f"Choose {project / place}, or another folder.",
        key="project_holds_repository",
    )
