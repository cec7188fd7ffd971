"""Removing all that is in a folder: never behind a link, never in another mount, and however deep it is."""

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from parachute.base.opening import FOLDER, open_below

_DEEPEST = 32
_ROUNDS = 10_000
"""Of taking a folder apart: so many times 32 levels, and no end to it while somebody goes on filling it."""


def remove_tree(parent: int, name: str) -> None:
    """Remove what has this name in the folder `parent`; see `Folder.remove_tree`."""
    try:
        os.unlink(name, dir_fd=parent)
    except FileNotFoundError:
        pass
    except (IsADirectoryError, PermissionError):  # the latter is what macOS says of a folder
        with _unlocked(parent, name) as folder:
            for _ in range(_ROUNDS):
                if not _empty(folder, folder, 0):
                    break
        os.rmdir(name, dir_fd=parent)


def _empty(folder: int, top: int, depth: int) -> bool:
    """Remove what is in a folder; True if something of it was moved to `top`, which has another turn."""
    moved = False
    with os.scandir(folder) as entries:
        found = [(entry.name, entry.is_dir(follow_symlinks=False)) for entry in entries]
    for name, is_folder in found:
        if not is_folder:
            with suppress(FileNotFoundError):
                os.unlink(name, dir_fd=folder)
            continue
        with suppress(FileNotFoundError):
            with _unlocked(folder, name) as inner:
                if depth >= _DEEPEST:
                    # Each level takes a descriptor and a call: what lies deeper has its turn at the top.
                    os.rename(name, os.urandom(16).hex(), src_dir_fd=folder, dst_dir_fd=top)
                    moved = True
                    continue
                moved |= _empty(inner, top, depth + 1)
            os.rmdir(name, dir_fd=folder)
    return moved


@contextmanager
def _unlocked(parent: int, name: str) -> Iterator[int]:
    """A folder in a folder, opened, with all that its owner may do with one."""
    try:
        folder = open_below(parent, name, FOLDER, same_mount=True)
    except PermissionError:
        _unlock(parent, name)
        folder = open_below(parent, name, FOLDER, same_mount=True)
    try:
        if stat.S_IMODE(os.fstat(folder).st_mode) & 0o700 != 0o700:
            os.fchmod(folder, 0o700)
        yield folder
    finally:
        os.close(folder)


def _unlock(parent: int, name: str) -> None:
    if os.chmod in os.supports_follow_symlinks:
        os.chmod(name, 0o700, dir_fd=parent, follow_symlinks=False)
        return
    # Linux changes the mode of what a descriptor stands for, though it may not be read; a link has none to change.
    folder = open_below(parent, name, os.O_PATH | os.O_DIRECTORY, same_mount=True)
    try:
        Path(f"/proc/self/fd/{folder}").chmod(0o700)
    finally:
        os.close(folder)
