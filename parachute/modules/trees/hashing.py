"""One pass through a folder: every file with its path, its executable bit and its content, and every link with its target."""

import errno
import hashlib
import os
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from msgspec import Struct, field

from parachute.base.errors import InvalidInput
from parachute.base.folders import Folder
from parachute.base.opening import NEW, open_regular
from parachute.modules.trees.models import Limits
from parachute.modules.trees.tree import LEFT_OUT, SourceCheck, TreeNotAllowed, refuse_unreadable, walk

_CHUNK = 1 << 20
_LARGEST = 4 << 30
_NOTHING: frozenset[str] = frozenset()

Wanted = Callable[[str], int]
"""The number of bytes of the file at a path that are kept in `Tree.texts`."""


def _no_text(path: str) -> int:
    return 0


class HashDiffers(InvalidInput):
    """A tree is not the one that was approved."""

    key = "hash_differs"


class TreeFile(NamedTuple):
    """A file of a tree; `sha256` is of its content, and of a link of its target."""

    sha256: str
    size: int
    is_executable: bool = False
    is_link: bool = False


class Tree(Struct, frozen=True):
    """The content of a folder at one moment.

    `hash` is `sha256:` and 64 digits, `files` is by path, and `texts` holds the contents of those that the caller wants to read.
    """

    hash: str
    files: dict[str, TreeFile]
    texts: dict[str, bytes] = field(default_factory=dict)

    @property
    def hashes(self) -> dict[str, str]:
        """The SHA-256 of each file by its path."""
        return {path: file.sha256 for path, file in self.files.items()}


def tree_hash(folder: Path, without: frozenset[str] = _NOTHING, limits: Limits | None = None) -> str:
    """The hash of a folder, as `sha256:` and 64 digits; error: TreeNotAllowed.

    `.git` and `__pycache__` are left out, and the entries of the folder itself that `without` names. Links count as what
    they say, and must stay inside of the folder. With `limits` the folder is checked as the source of a module.
    """
    return read_tree(folder, without=without, limits=limits).hash


def read_tree(
    folder: Path,
    *,
    complete: bool = False,
    without: frozenset[str] = _NOTHING,
    limits: Limits | None = None,
    wanted: Wanted = _no_text,
) -> Tree:
    """Read a folder as `tree_hash` does; `wanted` files are kept in `texts`.

    `complete`: `.git` and `__pycache__` are errors, as they are in a verified copy.
    """
    return _Pass(complete, without, limits, wanted).run(folder)


def verify(folder: Path, expected: str) -> Tree:
    """Error: HashDiffers unless the folder holds exactly what the hash says, caches not excepted."""
    found = read_tree(folder, complete=True)
    if found.hash != expected:
        raise HashDiffers(f"{folder} is not what was approved: its hash is {found.hash}, and {expected} was approved.")
    return found


def copy_verified(source: Path, target: Path, without: frozenset[str] = _NOTHING, *, for_the_user: bool = False) -> str:
    """Copy a folder into a new one and return the hash of what was copied; `without` as in `tree_hash`. Error: TreeNotAllowed.

    Every byte is read once, so that a file that changes meanwhile is hashed as it was copied. Files become read-only and
    belong to us, unless they are `for_the_user` to edit; empty folders are left out. After an error the part that was
    copied is still there.
    """
    return copy_tree(source, target, without=without, for_the_user=for_the_user).hash


def copy_tree(
    source: Path,
    target: Path,
    *,
    without: frozenset[str] = _NOTHING,
    limits: Limits | None = None,
    wanted: Wanted = _no_text,
    for_the_user: bool = False,
) -> Tree:
    """Copy as `copy_verified` does, and return what was copied; other arguments as in `read_tree`."""
    target.mkdir(mode=0o755 if for_the_user else 0o700)
    with Folder.open(target.parent) as parent, parent.folder(target.name) as folder:
        return _Pass(False, without, limits, wanted, folder, for_the_user).run(source)


class _Pass:
    """One pass through a tree. Everything is opened relative to its folder, so that no part can become a link meanwhile."""

    def __init__(
        self,
        complete: bool,
        without: frozenset[str],
        limits: Limits | None,
        wanted: Wanted,
        target: Folder | None = None,
        for_the_user: bool = False,
    ) -> None:
        self._target = target
        self._complete = complete
        self._without = without
        self._check = SourceCheck(limits) if limits else None
        self._for_the_user = for_the_user
        self._wanted = wanted
        self._files: dict[str, TreeFile] = {}
        self._texts: dict[str, bytes] = {}
        self._lines: list[tuple[bytes, bytes]] = []
        self._bytes = 0

    def run(self, source: Path) -> Tree:
        try:
            root = Folder.open(source)
        except OSError as error:
            raise TreeNotAllowed(f"{source} cannot be read: {error.strerror}.", key="unreadable") from error
        with root:
            for folder, entry, relative in walk(root, self._is_left_out):
                if self._check:
                    self._check.entry(entry, relative)
                if not entry.is_dir(follow_symlinks=False):
                    try:
                        self._entry(folder, entry.name, relative)
                    except OSError as error:
                        refuse_unreadable(relative, error)
        self._lines.sort()
        digest = hashlib.sha256()
        for path, rest in self._lines:
            # A path holds no zero byte, so that no two trees give the same line.
            digest.update(path + b"\0" + rest + b"\n")
        return Tree(f"sha256:{digest.hexdigest()}", self._files, self._texts)

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
                raise _not_a_file(inside) from error
            raise
        except InvalidInput as error:
            raise _not_a_file(inside) from error
        try:
            executable = bool(os.fstat(descriptor).st_mode & 0o111)
            before = self._bytes
            if self._target is None:
                digest = self._read(descriptor, inside, None)
            else:
                digest = self._copy(descriptor, inside, executable)
        finally:
            os.close(descriptor)
        self._files[inside] = TreeFile(digest, self._bytes - before, executable)
        kind = b"executable" if executable else b"file"
        self._lines.append((os.fsencode(inside), kind + b"\0" + digest.encode()))

    def _link(self, folder: Folder, name: str, inside: str) -> None:
        text = folder.link(name)
        _check_link(inside, text)
        if self._target is not None:
            with self._target_folder(inside) as target:
                target.make_link(name, text)
        digest = hashlib.sha256(os.fsencode(text)).hexdigest()
        self._files[inside] = TreeFile(digest, 0, is_link=True)
        self._lines.append((os.fsencode(inside), b"link\0" + digest.encode()))

    def _read(self, descriptor: int, inside: str, copy: int | None) -> str:
        digest, left, kept = hashlib.sha256(), self._wanted(inside), bytearray()
        while chunk := os.read(descriptor, _CHUNK):
            self._bytes += len(chunk)
            if self._bytes > _LARGEST:
                raise TreeNotAllowed(
                    f"There are more than {_LARGEST >> 30} GiB; {inside} is one file too many.", key="too_large"
                )
            digest.update(chunk)
            kept += chunk[: left - len(kept)]
            if copy is not None:
                view = memoryview(chunk)
                while view:
                    view = view[os.write(copy, view) :]
        if left:
            self._texts[inside] = bytes(kept)
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
        raise TreeNotAllowed(
            f"{inside} is a link to {text[:120]!r}, which leads out of the module.", key="path_leads_out"
        )


def _not_a_file(inside: str) -> TreeNotAllowed:
    return TreeNotAllowed(f"{inside} is neither a file nor a folder.", "Remove it.", key="not_a_file")
