"""The files of a module before anything is copied: how many, how large, and of which kinds."""

import errno
import os
import stat
from collections.abc import Iterator
from pathlib import Path

from parachute.base.errors import InvalidInput
from parachute.base.folders import Folder, TooMany
from parachute.base.signatures import Signature, current_signature, signature_of
from parachute.modules.registry.hashing import LEFT_OUT
from parachute.modules.registry.models import Limits

_DEEPEST = 32
_MOST_ENTRIES = 100_000
_MOST_INSTALLED = 1_000_000
_COMPILED = (".pyc", ".pyo")


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
        check_size(limits, count, total, relative)
        if relative.endswith(_COMPILED):
            raise TreeNotAllowed(
                f"{relative} is compiled Python, which cannot be reviewed.",
                "Bring the source instead.",
                key="compiled_python",
            )
        if stat.S_ISREG(status.st_mode):
            total += status.st_size
            check_size(limits, count, total, relative, status.st_size)
        elif not (stat.S_ISDIR(status.st_mode) or stat.S_ISLNK(status.st_mode)):
            raise TreeNotAllowed(f"{relative} is neither a file nor a folder.", "Remove it.", key="not_a_file")


def check_size(limits: Limits, count: int, total: int, path: str, size: int = 0) -> None:
    """Error: TreeNotAllowed if a module with so many files and bytes is too large; `path` and `size` are of the last file."""
    if count > limits.files:
        raise TreeNotAllowed(f"There are more than {limits.files:,} files.", _SMALLER, key="too_many_files")
    if total > limits.source_bytes:
        megabytes = limits.source_bytes // (1024 * 1024)
        raise TreeNotAllowed(
            f"There are more than {megabytes:,} MB; {path} has {size:,} bytes.", _SMALLER, key="too_large"
        )


_SMALLER = "Code and prompts are expected; data belongs into the vault. `--path` names one folder of a larger source."


def walk(root: Path) -> Iterator[tuple[os.DirEntry[str], str]]:
    """Every entry below `root` with its path there, in order of names; errors: TreeNotAllowed, OSError."""
    try:
        with Folder.open(root) as top:
            for place, _, entries in top.walk(deepest=_DEEPEST, most=_MOST_ENTRIES, unreadable=_refuse):
                entries[:] = sorted((each for each in entries if each.name not in LEFT_OUT), key=lambda each: each.name)
                for entry in entries:
                    relative = f"{place}/{entry.name}" if place else entry.name
                    if not relative.isprintable():
                        # A name that is not UTF-8 arrives as surrogates, which are not printable either.
                        raise TreeNotAllowed(
                            f"{relative!r} is not a name that a file can have here.", "Rename it.", key="invalid_name"
                        )
                    yield entry, relative
    except TooMany as error:
        raise TreeNotAllowed(error.message, _SMALLER, key="too_many_files") from error


def _refuse(path: str, error: OSError) -> None:
    if error.errno == errno.ENAMETOOLONG:
        raise TreeNotAllowed(f"{path}: folders lie more than {_DEEPEST} deep.", "Move it up.") from error
    raise error


def signatures(root: Path) -> dict[str, Signature]:
    """The signature of a folder and of each file and folder below it, by its path there; while all stay, it holds the same."""
    found = {"": signature_of(root.lstat())}
    for entry, relative in walk(root):
        found[relative] = signature_of(entry.stat(follow_symlinks=False))
    return found


def is_unchanged(root: Path, known: dict[str, Signature]) -> bool:
    """Return whether a folder and all that is below it have these signatures still; a third of the work of taking them again."""
    # A name that is new, gone or in the place of another one changes the signature of the folder that it lies in. As text:
    # a path would be put together again for each file, on every request.
    top = str(root)
    return all(current_signature(f"{top}/{path}" if path else top) == known[path] for path in known)


def remove_bytecode(root: Path) -> None:
    """Remove what Python would run without looking at its source."""
    with Folder.open(root) as top:
        for _, folder, entries in top.walk(most=_MOST_INSTALLED):
            compiled = [each for each in entries if each.name == "__pycache__" or each.name.endswith(_COMPILED)]
            for entry in compiled:
                folder.remove_tree(entry.name)
            entries[:] = [each for each in entries if each not in compiled]
