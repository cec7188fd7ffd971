"""The hash of a module: every file with its path, its executable bit and its content, and every link with its target."""

import errno
import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from parachute.base.errors import InvalidInput
from parachute.base.folders import Folder, TooMany
from parachute.base.opening import NEW, open_regular

LEFT_OUT = frozenset({".git", ".hypothesis", ".mypy_cache", ".pytest_cache", ".ruff_cache", "__pycache__"})
"""Entries that never belong to a module: git's own, and Python's caches."""

_CHUNK = 1 << 20
_DEEPEST = 64
_MOST_ENTRIES = 100_000
_LARGEST = 4 << 30


class HashNotPossible(InvalidInput):
    """A tree holds something that cannot be part of a module, or it cannot be read."""

    key = "hash_not_possible"


class HashDiffers(InvalidInput):
    """A tree is not the one that was approved."""

    key = "hash_differs"


@dataclass(frozen=True, slots=True)
class TreeHash:
    """`text` is `sha256:` and 64 digits; `files` holds the SHA-256 of each file (of each link: its target) by path."""

    text: str
    files: dict[str, str]


def tree_hash(folder: Path, without: frozenset[str] = frozenset()) -> str:
    """The hash of a folder, as `sha256:` and 64 digits; error: HashNotPossible.

    `.git` and `__pycache__` are left out, and the entries of the folder itself that `without` names. Links count as what
    they say, and must stay inside of the folder.
    """
    return _Walk(None, complete=False, without=without).run(folder).text


def hash_tree(folder: Path, *, complete: bool = False) -> TreeHash:
    """The hash with that of each file; `complete`: `.git` and `__pycache__` are errors, as they are in a verified copy."""
    return _Walk(None, complete).run(folder)


def verify(folder: Path, expected: str) -> TreeHash:
    """Error: HashDiffers unless the folder holds exactly what the hash says, caches not excepted."""
    found = hash_tree(folder, complete=True)
    if found.text != expected:
        raise HashDiffers(f"{folder} is not what was approved: its hash is {found.text}, and {expected} was approved.")
    return found


def copy_verified(
    source: Path, target: Path, without: frozenset[str] = frozenset(), *, for_the_user: bool = False
) -> str:
    """Copy a folder into a new one and return the hash of what was copied; `without` as in `tree_hash`. Error: HashNotPossible.

    Every byte is read once, so that a file that changes meanwhile is hashed as it was copied. Files become read-only and
    belong to us, unless they are `for_the_user` to edit; empty folders are left out. After an error the part that was
    copied is still there.
    """
    target.mkdir(mode=0o755 if for_the_user else 0o700)
    with Folder.open(target.parent) as parent, parent.folder(target.name) as folder:
        return _Walk(folder, complete=False, without=without, for_the_user=for_the_user).run(source).text


class _Walk:
    """One pass through a tree. Everything is opened relative to its folder, so that no part can become a link meanwhile."""

    def __init__(
        self,
        target: Folder | None,
        complete: bool,
        without: frozenset[str] = frozenset(),
        *,
        for_the_user: bool = False,
    ) -> None:
        self._target = target
        self._complete = complete
        self._without = without
        self._for_the_user = for_the_user
        self._files: dict[str, str] = {}
        self._lines: list[tuple[bytes, bytes]] = []
        self._bytes = 0

    def run(self, source: Path) -> TreeHash:
        try:
            root = Folder.open(source)
        except OSError as error:
            raise HashNotPossible(f"{source} cannot be read: {error.strerror}.", key="unreadable") from error
        with root:
            self._walk(root)
        self._lines.sort()
        digest = hashlib.sha256()
        for path, rest in self._lines:
            # A path holds no zero byte, so that no two trees give the same line.
            digest.update(path + b"\0" + rest + b"\n")
        return TreeHash(f"sha256:{digest.hexdigest()}", self._files)

    def _walk(self, root: Folder) -> None:
        try:
            for place, folder, entries in root.walk(deepest=_DEEPEST, most=_MOST_ENTRIES, unreadable=_refuse):
                prefix = f"{place}/" if place else ""
                entries[:] = [each for each in entries if not self._is_left_out(each.name, f"{prefix}{each.name}")]
                for entry in entries:
                    if not entry.is_dir(follow_symlinks=False):
                        with _errors_of(f"{prefix}{entry.name}"):
                            self._entry(folder, entry.name, f"{prefix}{entry.name}")
        except TooMany as error:
            raise HashNotPossible(error.message) from error

    def _is_left_out(self, name: str, inside: str) -> bool:
        if inside in self._without:
            return True
        if name not in LEFT_OUT:
            return False
        if self._complete:
            raise HashDiffers(f"{inside} was not there when this copy was made.")
        return True

    def _entry(self, folder: Folder, name: str, inside: str) -> None:
        try:
            descriptor = open_regular(folder.fileno(), name)
        except OSError as error:
            if error.errno == errno.ELOOP:
                self._link(folder, name, inside)
                return
            if error.errno == errno.ENXIO:  # a socket
                raise HashNotPossible(f"{inside} is neither a file nor a folder.", key="not_a_file") from error
            raise
        except InvalidInput as error:
            raise HashNotPossible(f"{inside} is neither a file nor a folder.", key="not_a_file") from error
        try:
            executable = bool(os.fstat(descriptor).st_mode & 0o111)
            if self._target is None:
                digest = self._read(descriptor, inside, None)
            else:
                digest = self._copy(descriptor, inside, executable)
        finally:
            os.close(descriptor)
        self._files[inside] = digest
        kind = b"executable" if executable else b"file"
        self._lines.append((os.fsencode(inside), kind + b"\0" + digest.encode()))

    def _link(self, folder: Folder, name: str, inside: str) -> None:
        text = folder.link(name)
        _check_link(inside, text)
        if self._target is not None:
            with self._target_folder(inside) as target:
                target.make_link(name, text)
        digest = hashlib.sha256(os.fsencode(text)).hexdigest()
        self._files[inside] = digest
        self._lines.append((os.fsencode(inside), b"link\0" + digest.encode()))

    def _read(self, descriptor: int, inside: str, copy: int | None) -> str:
        digest = hashlib.sha256()
        while chunk := os.read(descriptor, _CHUNK):
            self._bytes += len(chunk)
            if self._bytes > _LARGEST:
                raise HashNotPossible(f"There are more than {_LARGEST >> 30} GiB; {inside} is one file too many.")
            digest.update(chunk)
            if copy is not None:
                view = memoryview(chunk)
                while view:
                    view = view[os.write(copy, view) :]
        return digest.hexdigest()

    def _copy(self, descriptor: int, inside: str, executable: bool) -> str:
        with self._target_folder(inside) as target:
            copy = target.descriptor(inside.rpartition("/")[2], NEW)
            try:
                digest = self._read(descriptor, inside, copy)
                if self._for_the_user:
                    os.fchmod(copy, 0o755 if executable else 0o644)
                else:
                    os.fchmod(copy, 0o555 if executable else 0o444)
                os.fsync(copy)
            finally:
                os.close(copy)
        return digest

    def _target_folder(self, inside: str) -> Folder:
        assert self._target is not None
        return self._target.folder(inside.rpartition("/")[0], make=True, mode=0o755 if self._for_the_user else 0o700)


def _check_link(inside: str, text: str) -> None:
    parts = text.split("/")
    up = 0
    while up < len(parts) and parts[up] in ("..", "."):
        up += 1
    leading = parts[:up].count("..")
    # Further `..` after a name are refused whatever they lead to: that name may be a link itself, and then they lead from
    # where that link leads.
    if text.startswith("/") or leading > inside.count("/") or ".." in parts[up:]:
        raise HashNotPossible(
            f"{inside} is a link to {text[:120]!r}, which leads out of the module.", key="path_leads_out"
        )


@contextmanager
def _errors_of(inside: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        _refuse(inside, error)


def _refuse(inside: str, error: OSError) -> NoReturn:
    raise HashNotPossible(
        f"{inside or 'The folder'} cannot be read or copied: {error.strerror}.", key="unreadable"
    ) from error
