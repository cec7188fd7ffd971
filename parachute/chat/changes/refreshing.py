"""A view between two turns: whether it hides what the owner has changed since, and freeing it of what was applied."""

import stat
from contextlib import suppress

from parachute.base.folders import Folder
from parachute.base.signatures import signature_of
from parachute.chat.changes.present import status_of
from parachute.chat.changes.views import View


def look_below(view: View) -> None:
    """Look whether somebody else has changed the folders below a view; it waits for the disk."""
    with suppress(OSError), Folder.open_unlinked(view.project) as project, Folder.open(view.upper) as upper:
        view.is_outdated |= view.below.look(project, upper, view.left, view.parts)


def is_stale(view: View) -> bool:
    """Return whether a new view would show other files of the owner's than the one that is mounted; it waits for the disk."""
    look_below(view)
    if view.thrown or view.is_outdated:
        return True
    with Folder.open_unlinked(view.project) as project, Folder.open(view.upper) as upper:
        for path, left in view.left.items():
            status = status_of(project, path)
            if left.state.kind == "folder" and status is not None and stat.S_ISDIR(status.st_mode):
                continue
            is_changed = (signature_of(status) if status else None) != left.signature
            if is_changed and status_of(upper, path) is not None:
                return True
    return False


def free(view: View) -> None:
    """Remove from the upper layer what does not wait, while it is mounted nowhere. Error: OSError."""
    kept = set(view.waiting)
    for path in view.waiting:
        # A folder that hides something of which the deletion waits goes on hiding it, as it is.
        kept.update(path[:place] for place, letter in enumerate(path) if letter == "/")
    with Folder.open(view.upper) as upper:
        _free(upper, "", kept)


def _free(folder: Folder, path: str, kept: set[str]) -> None:
    for name, is_folder in [(each.name, each.is_dir(follow_symlinks=False)) for each in folder.entries()]:
        below = f"{path}/{name}" if path else name
        if below not in kept:
            folder.remove_tree(name)
        elif is_folder:
            with folder.folder(name) as inner:
                _free(inner, below, kept)
