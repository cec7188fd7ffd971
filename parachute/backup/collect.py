"""Looking at a folder: every file with its hash, following no link, while others go on writing there."""

import errno
import hashlib
import os
import stat
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from parachute.backup.models import Entry, Kind, Part
from parachute.base.folders import Folder
from parachute.errors import InvalidInput

_PIECE = 1 << 20
_LONGEST, _DEEPEST = 3500, 200
"""Bytes and folders of a path, so that it can be restored elsewhere: the system takes 4,096 bytes in one."""

_TICK_NS = 20_000_000
"""A file that changed this shortly before it was read may change once more without its time showing it."""

Signature = tuple[int, int, int, int, int, int]
"""Of a file: mode, device, inode, size, and the times of the last change of content and inode in ns."""


@dataclass(slots=True)
class Found:
    """What is in a folder; paths are relative to it and sorted so that folders come before what is in them.

    `moving` are those whose content may be another one by now. The other lists name what is not among the entries.
    """

    entries: dict[str, Entry] = field(default_factory=dict)
    signatures: dict[str, Signature] = field(default_factory=dict)
    moving: set[str] = field(default_factory=set)
    vanished: list[str] = field(default_factory=list)
    unreadable: list[str] = field(default_factory=list)
    special: list[str] = field(default_factory=list)


def signature(status: os.stat_result) -> Signature:
    """What tells two states of a file apart without reading it; a program can set no ctime back."""
    size = status.st_size if stat.S_ISREG(status.st_mode) else 0
    return (status.st_mode, status.st_dev, status.st_ino, size, status.st_mtime_ns, status.st_ctime_ns)


def walk(root: Path, part: Part | None, found: Found) -> Iterator[tuple[str, os.stat_result]]:
    """Everything that belongs to a part, each folder before what is in it; what cannot be read is noted in `found`."""
    yield ".", os.lstat(root)
    waiting = [""]
    while waiting:
        prefix = waiting.pop()
        try:
            # A folder that was replaced by a link a moment ago must not lead out of the root.
            with Folder.open(root) as top:
                folder = top.folder(prefix)
        except OSError as error:
            _note(found, prefix.rstrip("/") or ".", error)
            continue
        try:
            names = sorted(entry.name for entry in folder.entries())
            below = []
            for name in names:
                path = f"{prefix}{name}"
                if part is not None and part.is_left_out(path):
                    continue
                if part is not None and (path.count("/") > _DEEPEST or len(os.fsencode(path)) > _LONGEST):
                    found.unreadable.append(path)
                    continue
                try:
                    status = os.stat(name, dir_fd=folder.fileno(), follow_symlinks=False)
                except OSError as error:
                    _note(found, path, error)
                    continue
                yield path, status
                if stat.S_ISDIR(status.st_mode):
                    below.append(f"{path}/")
            waiting += reversed(below)
        except OSError as error:
            _note(found, prefix.rstrip("/") or ".", error)
        finally:
            folder.close()


def scan(root: Path, part: Part | None = None, known: Mapping[str, tuple[Signature, str]] | None = None) -> Found:
    """Everything in a folder with its hash; of files whose signature is `known` the known one. Error: OSError of the root.

    Databases of the part are entries without a hash: what they hold is copied by SQLite.
    """
    found = Found()
    twins: dict[tuple[int, int], str] = {}
    for path, status in walk(root, part, found):
        kind = kind_of(status)
        if kind is None:
            found.special.append(path)
            continue
        entry: Entry | None
        if kind == "file" and part is not None and part.is_database(path):
            entry = Entry(path, "file", stat.S_IMODE(status.st_mode))
        else:
            try:
                entry = _entry(root, path, kind, status, found, known or {})
            except OSError as error:
                _note(found, path, error)
                continue
        if kind == "file" and status.st_nlink > 1:
            first = twins.setdefault((status.st_dev, status.st_ino), path)
            if first != path:
                entry = Entry(entry.path, "file", entry.mode, entry.size, entry.modified, entry.sha256, twin=first)
        found.entries[path] = entry
        found.signatures.setdefault(path, signature(status))
    return found


def kind_of(status: os.stat_result) -> Kind | None:
    """What it is; None for sockets, pipes and devices, which no backup holds."""
    if stat.S_ISREG(status.st_mode):
        return "file"
    if stat.S_ISDIR(status.st_mode):
        return "folder"
    return "link" if stat.S_ISLNK(status.st_mode) else None


def _entry(
    root: Path,
    path: str,
    kind: Kind,
    status: os.stat_result,
    found: Found,
    known: Mapping[str, tuple[Signature, str]],
) -> Entry:
    mode = stat.S_IMODE(status.st_mode)
    if kind == "folder":
        return Entry(path, kind, mode)
    if kind == "link":
        target = os.readlink(root / path)  # noqa: PTH115 - Path would tidy it up
        return Entry(path, kind, mode, target=target, content=None if _is_text(target) else "")
    before = known.get(path)
    if before is not None and before[0] == signature(status):
        return Entry(path, kind, mode, status.st_size, status.st_mtime_ns, before[1])
    with open_file(root, path) as file:
        opened = os.fstat(file.fileno())
        started = time.time_ns()
        digest, size = hashlib.sha256(), 0
        while data := file.read(_PIECE):
            digest.update(data)
            size += len(data)
    found.signatures[path] = signature(opened)
    if opened.st_ctime_ns > started - _TICK_NS:
        found.moving.add(path)
    return Entry(path, kind, stat.S_IMODE(opened.st_mode), size, opened.st_mtime_ns, digest.hexdigest())


def open_file(root: Path, path: str) -> BinaryIO:
    """A regular file below a root, open for reading without following a link on the way; error: OSError."""
    with Folder.open(root) as folder:
        try:
            return folder.file(path)
        except InvalidInput as error:
            raise FileNotFoundError(errno.ENOENT, "it is no file any more", path) from error


def _is_text(target: str) -> bool:
    """Whether restic before 0.16 can hold the target of a link; the manifest can hold any."""
    try:
        target.encode()
    except UnicodeEncodeError:
        return False
    return True


def _note(found: Found, path: str, error: OSError) -> None:
    (found.vanished if isinstance(error, FileNotFoundError | NotADirectoryError) else found.unreadable).append(path)
