"""A view between two turns: whether it hides what the owner has changed since, and freeing it of what was applied."""

import os
import stat
from collections.abc import Collection
from contextlib import suppress

from parachute.base.folders import Folder
from parachute.base.signatures import signature_of
from parachute.changes.present import status_of
from parachute.changes.scanning import OPAQUE
from parachute.changes.views import View


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
    """Remove from the upper layer what does not wait, while it is mounted nowhere. Error: OSError.

    What it hides afterwards is what waits to be deleted, and nothing else of the owner's.
    """
    above = {path[:place] for path in view.waiting for place, letter in enumerate(path) if letter == "/"}
    with Folder.open_unlinked(view.project) as project, Folder.open(view.upper) as upper:
        _free(upper, "", view.waiting.keys(), above)
        for path in sorted(path for path, each in view.waiting.items() if each.after.kind == "none"):
            _hide(project, upper, path)


def _free(folder: Folder, path: str, waiting: Collection[str], above: Collection[str]) -> None:
    if OPAQUE in os.listxattr(folder.fileno()):
        os.removexattr(folder.fileno(), OPAQUE)
    for name, is_folder in [(each.name, each.is_dir(follow_symlinks=False)) for each in folder.entries()]:
        below = f"{path}/{name}" if path else name
        if is_folder and below in above:
            with folder.folder(name) as inner:
                _free(inner, below, waiting, above)
        elif below not in waiting:
            folder.remove_tree(name)


def _hide(project: Folder, upper: Folder, path: str) -> None:
    """Hide one path of the owner's, as the kernel does when an agent deletes it."""
    if status_of(project, path) is None:
        return
    made = ""
    for name in path.split("/")[:-1]:
        made = f"{made}/{name}".lstrip("/")
        above, below = status_of(upper, made), status_of(project, made)
        if above is None and below is not None:
            upper.make_folder(made)
            with upper.folder(made) as folder:
                os.fchmod(folder.fileno(), stat.S_IMODE(below.st_mode) & 0o777)
        elif above is None or not stat.S_ISDIR(above.st_mode):
            return  # it is hidden with the folder, or replaced by something else
    with suppress(FileExistsError):
        upper.make_whiteout(path)
