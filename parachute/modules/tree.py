"""The files of a module before anything is copied: how many, how large, and of which kinds."""

import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import islice
from pathlib import Path

from parachute.errors import InvalidInput
from parachute.modules.hashing import LEFT_OUT
from parachute.modules.models import Limits

_DEEPEST = 32
_MOST_ENTRIES = 100_000
_ROUNDS = 10_000
"""Of taking a folder apart: so many times 32 levels, and no end to it while somebody goes on filling it."""

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
    """Every entry below `root` with its path there, in order of names; errors: TreeNotAllowed, OSError."""
    waiting = [(str(root), "", 0)]
    left = _MOST_ENTRIES
    while waiting:
        folder, prefix, depth = waiting.pop()
        with os.scandir(folder) as entries:
            found = sorted(islice(entries, left + 1), key=lambda entry: entry.name)
        left -= len(found)
        if left < 0:
            raise TreeNotAllowed(f"There are more than {_MOST_ENTRIES:,} files and folders.", _SMALLER)
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
    """Remove a file or a folder with all that is in it, also where it is locked; nothing there is no error.

    Links are removed and never followed, also where somebody puts them in place meanwhile, and a tree may be as deep
    as it is. Error: OSError.
    """
    try:
        parent = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except FileNotFoundError:
        return
    try:
        _remove(parent, path.name)
    finally:
        os.close(parent)


def _remove(parent: int, name: str) -> None:
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
                    os.rename(name, secrets.token_hex(16), src_dir_fd=folder, dst_dir_fd=top)
                    moved = True
                    continue
                moved |= _empty(inner, top, depth + 1)
            os.rmdir(name, dir_fd=folder)
    return moved


@contextmanager
def _unlocked(parent: int, name: str) -> Iterator[int]:
    """A folder in a folder, opened, with all that its owner may do with one."""
    flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        folder = os.open(name, flags, dir_fd=parent)
    except PermissionError:
        _unlock(parent, name)
        folder = os.open(name, flags, dir_fd=parent)
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
    folder = os.open(name, os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=parent)
    try:
        Path(f"/proc/self/fd/{folder}").chmod(0o700)
    finally:
        os.close(folder)
