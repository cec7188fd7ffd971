"""The files of a module or plugin: each entry below its folder, and what is refused before anything of it is read."""

import errno
import os
import stat
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NoReturn

from parachute.base.errors import InvalidInput
from parachute.base.folders import Folder, TooMany
from parachute.base.signatures import Signature, current_signature, signature_of
from parachute.modules.trees.models import Limits

LEFT_OUT = frozenset({".git", ".hypothesis", ".mypy_cache", ".pytest_cache", ".ruff_cache", "__pycache__"})
"""Entries that never belong to a module: git's own, and Python's caches."""

_DEEPEST = 64
_DEEPEST_SOURCE = 32
_MOST_ENTRIES = 100_000
_MOST_INSTALLED = 1_000_000
_COMPILED = (".pyc", ".pyo")
_SMALLER = "Code and prompts are expected; data belongs into the vault. `--path` names one folder of a larger source."


class TreeNotAllowed(InvalidInput):
    """A folder holds something that cannot be part of a module, or it cannot be read."""

    key = "tree_not_allowed"


class SourceCheck:
    """The limits of a source, asked for each entry before it is read; error: TreeNotAllowed."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._count = 0
        self._total = 0

    def entry(self, entry: os.DirEntry[str], relative: str) -> None:
        """Refuse too much, names that cannot be shown, and compiled code without its source."""
        # A name that is not UTF-8 arrives as surrogates, which are not printable either.
        if not relative.isprintable():
            raise TreeNotAllowed(
                f"{relative!r} is not a name that a file can have here.", "Rename it.", key="invalid_name"
            )
        if relative.count("/") >= _DEEPEST_SOURCE:
            raise TreeNotAllowed(
                f"{relative}: folders lie more than {_DEEPEST_SOURCE} deep.", "Move it up.", key="too_deep"
            )
        if relative.endswith(_COMPILED):
            raise TreeNotAllowed(
                f"{relative} is compiled Python, which cannot be reviewed.",
                "Install it from its source instead.",
                key="compiled_python",
            )
        status = entry.stat(follow_symlinks=False)
        self.size(relative, status.st_size if stat.S_ISREG(status.st_mode) else 0)

    def size(self, path: str, size: int) -> None:
        """Count one more entry of this size."""
        self._count += 1
        self._total += size
        if self._count > self._limits.files:
            raise TreeNotAllowed(f"There are more than {self._limits.files:,} files.", _SMALLER, key="too_many_files")
        if self._total > self._limits.source_bytes:
            megabytes = self._limits.source_bytes // (1024 * 1024)
            raise TreeNotAllowed(
                f"There are more than {megabytes:,} MB; {path} has {size:,} bytes.", _SMALLER, key="too_large"
            )


def walk(
    top: Folder, is_left_out: Callable[[str, str], bool] = lambda name, relative: name in LEFT_OUT
) -> Iterator[tuple[Folder, os.DirEntry[str], str]]:
    """Every entry below a folder, with the folder that it lies in and its path; errors: TreeNotAllowed.

    No link is entered, and nothing for whose name and path `is_left_out` is true.
    """
    try:
        for place, folder, entries in top.walk(deepest=_DEEPEST, most=_MOST_ENTRIES, unreadable=refuse_unreadable):
            prefix = f"{place}/" if place else ""
            entries[:] = [each for each in entries if not is_left_out(each.name, f"{prefix}{each.name}")]
            entries.sort(key=lambda each: each.name)
            for entry in entries:
                yield folder, entry, f"{prefix}{entry.name}"
    except TooMany as error:
        raise TreeNotAllowed(error.message, _SMALLER, key="too_many_files") from error


def refuse_unreadable(path: str, error: OSError) -> NoReturn:
    """Raise TreeNotAllowed for what cannot be read."""
    if error.errno == errno.ENAMETOOLONG:
        raise TreeNotAllowed(
            f"{path}: folders lie more than {_DEEPEST} deep.", "Move it up.", key="unreadable"
        ) from error
    raise TreeNotAllowed(f"{path or 'The folder'} cannot be read: {error.strerror}.", key="unreadable") from error


def signatures(root: Path) -> dict[str, Signature]:
    """The signature of a folder and of each file and folder below it, by its path there; while all stay, it holds the same."""
    found = {"": signature_of(root.lstat())}
    with Folder.open(root) as top:
        for _, entry, relative in walk(top):
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
