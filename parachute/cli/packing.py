"""A folder, or the database of an older Parachute, as one file to be uploaded."""

import contextlib
import os
import shutil
import sqlite3
import stat
import tempfile
import time
import zipfile
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import BinaryIO

import msgspec

from parachute.base.errors import InvalidInput
from parachute.base.folders import Folder

_MOST = 200_000
_LIST = 1024 * 1024
_DATABASE = b"SQLite format 3\0"
_OLD = ("Chat/sessions/", "agent-sessions/", "agent-chats/")
_TRANSCRIPTS = ".claude/projects/"


class _Listed(msgspec.Struct):
    filename: str


class _List(msgspec.Struct):
    data_files: list[_Listed]


@contextlib.contextmanager
def packed(path: Path, kind: str) -> Iterator[BinaryIO]:
    """The export at a path as a file: a folder as an archive, a database whole as of now. Error: InvalidInput."""
    try:
        if path.is_dir():
            with tempfile.TemporaryFile() as file:
                _pack(path, file, partial(_below, is_wanted=_WANTED.get(kind, _of_notes)))
                file.seek(0)
                yield file
        elif kind in ("auto", "claude") and (listed := _listed(path)):
            # Claude's list of an export: its archives lie beside it.
            with tempfile.TemporaryFile() as file:
                _pack(
                    path.resolve().parent, file, lambda root: [each for each in listed if root.status(each) is not None]
                )
                file.seek(0)
                yield file
        elif path.suffix in (".db", ".sqlite"):
            with tempfile.TemporaryDirectory() as folder:
                snapshot(path, Path(folder, "sessions.db"))
                with Path(folder, "sessions.db").open("rb") as file:
                    yield file
        else:
            with path.open("rb") as file:
                yield file
    except sqlite3.Error as error:
        raise InvalidInput(f"{path} cannot be read as a database: {error}.", key="database_unreadable") from error
    except OSError as error:
        raise InvalidInput(
            f"{error.filename or path} cannot be read: {error.strerror}.", key="file_unreadable"
        ) from error


def snapshot(path: Path, copy: Path) -> None:
    """Copy a database with what its program has written last, which may lie in another file; error: sqlite3.Error."""
    with (
        contextlib.closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)) as source,
        contextlib.closing(sqlite3.connect(copy)) as target,
    ):
        source.backup(target)


def _listed(path: Path) -> list[str]:
    """The names of the archives that a list of an export of Claude has; none for any other file."""
    if not (path.name.startswith("manifest-") and path.suffix == ".json") or path.stat().st_size > _LIST:
        return []
    try:
        files = msgspec.json.decode(path.read_bytes(), type=_List).data_files
    except ValueError:
        return []
    names = [each.filename for each in files if "/" not in each.filename]
    return [path.name, *dict.fromkeys(names)] if names else []


def _of_notes(name: str) -> bool:
    return not any(part.startswith(".") for part in name.split("/"))


def _of_vault(name: str) -> bool:
    is_old = name.startswith(_OLD) and name.endswith(".md")
    return (
        is_old
        or (name.startswith(_TRANSCRIPTS) and name.endswith(".jsonl"))
        or name.endswith(("sessions.db", "chat.db"))
    )


def _of_lmstudio(name: str) -> bool:
    # Beside these lie its models, as large as a disk.
    return name.endswith(".conversation.json") or name.startswith("user-files/")


def _of_mails(name: str) -> bool:
    return name.lower().endswith((".eml", ".mbox"))


_WANTED = {"mail": _of_mails, "parachute": _of_vault, "lmstudio": _of_lmstudio}
"""Files that are taken of a folder, by the kind of the export; notes of any other."""


def _pack(path: Path, file: BinaryIO, wanted: Callable[[Folder], Iterable[str]]) -> None:
    with Folder.open(path) as root, zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for name in wanted(root):
            _add(archive, root, path, name)


def _below(root: Folder, is_wanted: Callable[[str], bool]) -> Iterator[str]:
    """The files below a folder that are wanted, by their paths in it."""
    for place, _, entries in root.walk(most=_MOST, unreadable=lambda *_: None):
        prefix = f"{place}/" if place else ""
        for entry in sorted(entries, key=lambda each: each.name):
            name = f"{prefix}{entry.name}"
            if entry.is_file(follow_symlinks=False) and is_wanted(name):
                yield name


def _add(archive: zipfile.ZipFile, root: Folder, path: Path, name: str) -> None:
    with root.file(name) as source:
        status = os.fstat(source.fileno())
        # An archive knows the years from 1980 on.
        moment = time.localtime(max(status.st_mtime, 315_619_200))[:6]
        info = zipfile.ZipInfo(f"{path.resolve().name}/{name}" if path.resolve().name else name, moment)
        info.compress_type, info.external_attr = zipfile.ZIP_DEFLATED, stat.S_IFREG << 16
        info.file_size = status.st_size
        if source.read(len(_DATABASE)) == _DATABASE:
            with tempfile.TemporaryDirectory() as folder:
                copy = Path(folder, "sessions.db")
                snapshot(path / name, copy)
                archive.write(copy, info.filename)
            return
        source.seek(0)
        with archive.open(info, "w", force_zip64=True) as target:
            shutil.copyfileobj(source, target, 1024 * 1024)
