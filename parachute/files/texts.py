"""The files of the vault that are searched, of what devices may read: Markdown, plain text and documents."""

import codecs
import os
import stat
import time
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path

from msgspec import Struct, field
from msgspec.structs import replace

from parachute.base.errors import ParachuteError
from parachute.base.folders import Folder, TooMany
from parachute.chat.contexts.discovery import is_entered
from parachute.core.conflict_copies import original_of
from parachute.files.documents import confinement
from parachute.files.documents.kinds import ENDINGS, KINDS, PICTURES, is_picture, kind_of
from parachute.security.permissions.models import Access
from parachute.security.permissions.vault_files import may_list, vault_path

_ENDINGS = (".md", ".markdown", ".txt", ".text", ".rst", ".org")
_DEEPEST, _MOST_ENTRIES, _MOST_TEXTS, _MOST_DOCUMENTS = 24, 200_000, 20_000, 20_000
_LONGEST_PATH = 1_000
_SECONDS = 5.0
_READ = 256 * 1024
"""Bytes of a file that are looked at: its beginning has to do for a large one."""


class Marks(Struct, frozen=True):
    """Mark of each file in its present form: another one after a change; `problem` says why some may be absent.

    `documents` are read in a process of their own; `left_out` counts, by kind, those that no program here can read.
    """

    texts: dict[str, str] = field(default_factory=dict)
    documents: dict[str, str] = field(default_factory=dict)
    left_out: dict[str, int] = field(default_factory=dict)
    problem: str | None = None


def marks(root: Path, *, pictures: bool = True) -> Marks:
    """The files of the vault by their paths, with or without its pictures; waits for the disk. Error: OSError without a vault."""
    found = Marks()
    readable = frozenset(filter(confinement.reads, {*KINDS.values(), *PICTURES.values()}))
    until = time.monotonic() + _SECONDS
    problem = None
    with Folder.open(root) as top:
        try:
            for place, _, entries in top.walk(deepest=_DEEPEST, most=_MOST_ENTRIES, unreadable=lambda *_: None):
                for path, mark in _files(place, entries):
                    if pictures or not is_picture(path):
                        _take(found, path, mark, readable)
                entries[:] = [each for each in entries if is_entered(each.name)]
                if len(found.texts) > _MOST_TEXTS:
                    problem = f"There are more than {_MOST_TEXTS:,} texts; not all of them are searched."
                elif time.monotonic() > until:
                    problem = "The vault is too large to be looked through; not all texts are searched."
                if problem:
                    break
        except TooMany:
            problem = f"The vault has more than {_MOST_ENTRIES:,} files; not all texts are searched."
    if problem is None and len(found.documents) > _MOST_DOCUMENTS:
        problem = f"There are more than {_MOST_DOCUMENTS:,} documents; not all of them are searched."
    return replace(found, problem=problem)


def gone(root: Path, paths: Iterable[str]) -> list[str]:
    """Find those of some paths at which no file is that may be read; waits for the disk. Error: OSError without a vault."""
    with Folder.open(root) as vault:
        return [path for path in paths if status_of(vault, path) is None]


def _take(found: Marks, path: str, mark: str, readable: frozenset[str]) -> None:
    kind = kind_of(path)
    if kind is None:
        found.texts[path] = mark
    elif kind in readable:
        if len(found.documents) <= _MOST_DOCUMENTS:
            found.documents[path] = mark
    else:
        found.left_out[kind] = found.left_out.get(kind, 0) + 1


def _files(place: str, entries: Collection["os.DirEntry[str]"]) -> Iterator[tuple[str, str]]:
    names = {entry.name for entry in entries}
    for entry in entries:
        if not entry.name.lower().endswith((*_ENDINGS, *ENDINGS)) or not may_list(entry.name, hidden=False):
            continue
        if original_of(entry.name) in names:
            continue
        try:
            status = entry.stat(follow_symlinks=False)
            path = f"{place}/{entry.name}" if place else entry.name
            length = len(path.encode())
        except (OSError, UnicodeEncodeError):  # gone meanwhile, or a name that is no text
            continue
        if stat.S_ISREG(status.st_mode) and length <= _LONGEST_PATH:
            yield path, f"{status.st_mtime_ns}-{status.st_size}-{status.st_ino}"


def changed_at(mark: str) -> int:
    """Return the time of the last change of a file with a mark, in nanoseconds."""
    return int(mark.partition("-")[0] or 0)


def text_of(vault: Folder, path: str) -> str:
    """The beginning of a text; empty for what is none, and for what may not be read or is gone."""
    try:
        with vault.file("/".join(vault_path(path, Access.READ))) as file:
            data = file.read(_READ)
        text = codecs.getincrementaldecoder("utf-8")().decode(data, final=len(data) < _READ)
    except (OSError, ParachuteError, UnicodeDecodeError):
        return ""
    return "" if "\0" in text else text


def status_of(vault: Folder, path: str) -> os.stat_result | None:
    """The state of a file that devices may read, None for any other."""
    try:
        status = vault.status("/".join(vault_path(path, Access.READ)))
    except (OSError, ParachuteError):
        return None
    return status if status is not None and stat.S_ISREG(status.st_mode) else None
