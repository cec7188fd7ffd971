"""The search for files in a project that programs of the user obey as soon as they see them."""

import errno
import os
from collections.abc import Collection, Iterator
from pathlib import Path

from parachute.base.errors import InvalidInput
from parachute.base.folders import Entries, Folder, TooMany
from parachute.base.steering.judging import present_only
from parachute.base.steering.names import FILES, FOLDERS, REPOSITORY

_NAMES = frozenset((*FOLDERS, *FILES))
_BARE = frozenset(("HEAD", "objects", "refs"))
_ENTRIES = 500_000
_MOST = 200
_DEEPEST = 200


def find_below(project: Path, known: Collection[str] = ()) -> list[tuple[str, bool]]:
    """Obeyed paths further down in a project than at its top, each with True for a file, without those in `known`.

    What only holds a place for another sandbox is left out. Waits for the disk, long for a large project. Error: InvalidInput
    for another repository, a link among these, and where there is too much to search.
    """
    found: list[tuple[str, bool]] = []
    try:
        with Folder.open_unlinked(project) as root:
            for place, _, entries in root.walk(
                deepest=_DEEPEST, most=_ENTRIES, unreadable=lambda path, error: _unreadable(root, project, path, error)
            ):
                found += _obeyed(root, project, place, entries, known)
                if len(found) > _MOST:
                    raise _too_large(project)
    except TooMany as error:
        raise _too_large(project) from error
    except (FileNotFoundError, NotADirectoryError):
        pass  # it is gone
    except OSError as error:
        raise _not_readable(project, error) from error
    return found


def _obeyed(
    root: Folder, project: Path, place: str, entries: Entries, known: Collection[str]
) -> Iterator[tuple[str, bool]]:
    """Obeyed paths in one folder; only folders that are to be searched remain among the entries."""
    names = {entry.name for entry in entries}
    if names >= _BARE:
        raise _other_repository(project, place or ".")
    obeyed = {*(names & _NAMES), *present_only(names, place.rpartition("/")[2])} if place else set()
    further = []
    for entry in entries:
        path = f"{place}/{entry.name}" if place else entry.name
        is_folder = entry.is_dir(follow_symlinks=False)
        if path in known or (is_folder and entry.name in (*FOLDERS, REPOSITORY) and _is_empty(root, project, path)):
            continue
        if entry.name == REPOSITORY:
            if place:
                raise _other_repository(project, place)
        elif entry.name in obeyed:
            _check_kind(project, path, entry, is_folder)
            yield path, not is_folder
        elif is_folder:
            further.append(entry)
    entries[:] = further


def _is_empty(root: Folder, project: Path, path: str) -> bool:
    try:
        with root.folder(path) as folder:
            return next(folder.entries(), None) is None
    except OSError as error:
        _unreadable(root, project, path, error)
        return True


def _unreadable(root: Folder, project: Path, path: str, error: OSError) -> None:
    if error.errno == errno.ENAMETOOLONG:
        raise _too_large(project) from error
    if error.errno in (errno.ENOENT, errno.ENOTDIR, errno.ELOOP):
        return  # gone meanwhile, or a link now
    # An agent has the rights of this user, and can no more read what another one has closed.
    status = root.status(path)
    if status is not None and status.st_uid == os.geteuid():
        raise _not_readable(project / path, error) from error


def _check_kind(project: Path, path: str, entry: os.DirEntry[str], is_folder: bool) -> None:
    if not is_folder and not entry.is_file(follow_symlinks=False):
        raise InvalidInput(
            f"{project}/{path} is a link or no file. Programs run what it leads to, and in an agent's reach it could be replaced, so "
            "that this folder cannot be given to an agent for writing.",
            "Put the file itself in its place.",
            key="project_holds_link",
        )


def _too_large(project: Path) -> InvalidInput:
    return InvalidInput(
        f"{project} holds too much to search: {_ENTRIES:,} files, folders {_DEEPEST} deep, or {_MOST} files that programs "
        "of yours obey, are the most.",
        "Choose a folder below it.",
        key="project_too_large",
    )


def _not_readable(folder: Path, error: OSError) -> InvalidInput:
    return InvalidInput(f"{folder} cannot be read: {error.strerror}.", key="project_not_readable")


def _other_repository(project: Path, place: str) -> InvalidInput:
    where = "is a repository without a work tree" if place == "." else f"holds another repository, {place}"
    return InvalidInput(
        f"{project} {where}: git would obey what an agent writes there.",
        "Choose a folder without one below it." if place == "." else f"Choose {project / place}, or another folder.",
        key="project_holds_repository",
    )
