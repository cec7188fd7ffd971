"""The files of a module before anything is copied: how many, how large, and of which kinds."""

import os
import shutil
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from parachute.errors import InvalidInput
from parachute.modules.hashing import LEFT_OUT
from parachute.modules.models import Limits

_DEEPEST = 32
_COMPILED = (".pyc", ".pyo")

Signature = tuple[tuple[str, int, int, int, int, int], ...]
"""Of each file: path, mode, inode, size, and the times of its last change in ns."""


class TreeNotAllowed(InvalidInput):
    """A folder holds something that a module cannot have."""

    key = "tree_not_allowed"


def check_tree(root: Path, limits: Limits) -> None:
    """Error: TreeNotAllowed for too much, for compiled code without its source, and for what is neither file nor folder.

    Where links lead is looked at when the files are hashed.
    """
    total = 0
    for count, (entry, relative) in enumerate(walk(root), 1):
        status = entry.stat(follow_symlinks=False)
        if count > limits.files:
            raise TreeNotAllowed(f"The module has more than {limits.files:,} files.", _SMALLER)
        if relative.endswith(_COMPILED):
            raise TreeNotAllowed(f"{relative} is compiled Python, which nobody can read.", "Bring the source instead.")
        if stat.S_ISREG(status.st_mode):
            total += status.st_size
            if total > limits.source_bytes:
                raise TreeNotAllowed(
                    f"The module is larger than {limits.source_bytes // (1024 * 1024):,} MB; "
                    f"{relative} has {status.st_size:,} bytes.",
                    _SMALLER,
                )
        elif not (stat.S_ISDIR(status.st_mode) or stat.S_ISLNK(status.st_mode)):
            raise TreeNotAllowed(f"{relative} is neither a file nor a folder.", "Remove it from the module.")


_SMALLER = "A module is code and prompts; data belongs into the vault. `--path` names the folder of the module in it."


def walk(root: Path) -> Iterator[tuple[os.DirEntry[str], str]]:
    """Every entry below `root` with its path there, in order of names; error: TreeNotAllowed, OSError."""
    waiting = [(str(root), "", 0)]
    while waiting:
        folder, prefix, depth = waiting.pop()
        with os.scandir(folder) as entries:
            found = sorted(entries, key=lambda entry: entry.name)
        for entry in found:
            is_folder = entry.is_dir(follow_symlinks=False)
            if entry.name in LEFT_OUT:
                continue
            relative = f"{prefix}{entry.name}"
            if not relative.isprintable():
                # A name that is not UTF-8 arrives as surrogates, which are not printable either.
                raise TreeNotAllowed(f"{relative!r} is not a name that a file of a module can have.", "Rename it.")
            yield entry, relative
            if is_folder:
                if depth >= _DEEPEST:
                    raise TreeNotAllowed(f"{relative}: folders lie more than {_DEEPEST} deep.", "Move it up.")
                waiting.append((entry.path, f"{relative}/", depth + 1))


def signature(root: Path) -> Signature:
    """What tells two states of a folder apart without reading its files.

    The time of the change of the inode is in it: a program can set the time of the last change of the content back.
    """
    found = []
    for entry, relative in walk(root):
        status = entry.stat(follow_symlinks=False)
        if not stat.S_ISDIR(status.st_mode):
            times = (status.st_mtime_ns, status.st_ctime_ns)
            found.append((relative, status.st_mode, status.st_ino, status.st_size, *times))
    return tuple(found)


def remove_bytecode(root: Path) -> None:
    """Remove what Python would run without looking at its source."""
    for place, folders, names in os.walk(root, topdown=False):
        for name in (*folders, *names):
            if name == "__pycache__" or name.endswith(_COMPILED):
                remove(Path(place) / name)


def remove(path: Path) -> None:
    """Remove a file or a folder with all that is in it, also where it is read-only; nothing there is no error."""

    def unlock(operation: Any, name: str, error: Any) -> None:
        if isinstance(error[1], FileNotFoundError):
            return
        Path(name).parent.chmod(0o700)
        if not Path(name).is_symlink():
            Path(name).chmod(0o700)
        operation(name)

    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, onerror=unlock)
    else:
        path.unlink(missing_ok=True)
