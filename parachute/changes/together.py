"""Files that belong together, and those that a running program of the owner's has open: none of them is replaced."""

import fnmatch
import os
import stat
from collections.abc import Container, Iterable

from parachute.base.errors import InvalidInput
from parachute.base.folders import Folder
from parachute.base.open_files import is_open_for_writing
from parachute.changes.present import status_of

MEMBERS = ("", "-wal", "-journal")
"""A database of SQLite, and its files beside it."""
_SHARED = "-shm"
_SQLITE = b"SQLite format 3\0"
_HOT = b"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7"
"""The beginning of a journal that is not done with: some programs leave an empty one."""
_IN_FOLDER = ("CURRENT", "LOCK", "LOG", "MANIFEST-*", "OPTIONS-*", "*.ldb", "*.sst", "*.log")
"""Files of LevelDB and RocksDB, of which the folder is the database; `LOCK` is open while a program has it."""
_GIT, _OBJECTS = ".git/", ".git/objects/"


def database_of(path: str) -> str:
    """The database that a file would belong to by its name; every other file is its own."""
    suffix = next((each for each in (*MEMBERS[1:], _SHARED) if path.endswith(each)), "")
    return path.removesuffix(suffix)


def root_of(path: str) -> str:
    """The database or folder of one that a path would belong to by its name."""
    return path.rpartition("/")[0] if _is_in_folder(path) else database_of(path)


def is_momentary(project: Folder, upper: Folder, path: str) -> bool:
    """Return whether running programs share this while they have a database open, or it is a lock that the owner has not."""
    if is_lock(path):
        return status_of(project, path) is None
    parent, _, name = path.rpartition("/")
    database = f"{parent}/data.mdb".lstrip("/") if name == "lock.mdb" else path.removesuffix(_SHARED)
    return database != path and any(_is_file(folder, database) for folder in (project, upper))


def is_lock(path: str) -> bool:
    """Return whether a program says by a file of this name that it has another one open."""
    name = path.rpartition("/")[2]
    return name.endswith(".lck") or (name.startswith(".~lock.") and name.endswith("#"))


def is_unsettled(project: Folder, upper: Folder, path: str) -> bool:
    """Return whether a file is of a database that is not whole without what lies beside it, or that a program has open."""
    database = database_of(path)
    if not any(_is_file(folder, database) for folder in (project, upper)):
        return False
    if database == path and not any(_begins(folder, path, _SQLITE) for folder in (upper, project)):
        return False
    return in_use(project, database) or any(_companions(folder, database) for folder in (project, upper))


def in_use(project: Folder, path: str, batch: Container[str] = ()) -> bool:
    """Return whether a running program of the owner's has a file open, or what belongs to it; `batch` is replaced along with it."""
    if _is_open(project, path) or (_is_in_folder(path) and _is_open(project, _beside(path, "LOCK"))):
        return True
    name = path.rpartition("/")[2]
    if is_lock(path) and status_of(project, path) is not None:
        return True
    if any(status_of(project, _beside(path, lock)) is not None for lock in (f"{name}.lck", f".~lock.{name}#")):
        return True
    if path.startswith(_GIT) and not path.startswith(_OBJECTS):
        return any(status_of(project, lock) is not None for lock in (f"{path}.lock", f"{_GIT}index.lock"))
    database = database_of(path)
    if database == path and not _begins(project, path, _SQLITE):
        return False
    others = [f"{database}{suffix}" for suffix in MEMBERS if f"{database}{suffix}" != path]
    return any(_is_open(project, each) for each in others) or any(
        each not in batch for each in _companions(project, database) if each != path
    )


def torn(done: Iterable[str], left: Iterable[str]) -> set[str]:
    """The paths of `done` that belong to a database of which a part is `left`."""
    roots = {database_of(path) for path in left}
    return {path for path in done if database_of(path) in roots}


def _companions(folder: Folder, database: str) -> list[str]:
    """List the files beside a database that belong to it, or that say that a program has it open."""
    log, journal, shared = (f"{database}{suffix}" for suffix in (*MEMBERS[1:], _SHARED))
    found = [log] if _is_file(folder, log) or _is_file(folder, shared) else []
    return [*found, journal] if _begins(folder, journal, _HOT) else found


def _is_in_folder(path: str) -> bool:
    name = path.rpartition("/")[2]
    return "/" in path and any(fnmatch.fnmatchcase(name, each) for each in _IN_FOLDER)


def _beside(path: str, name: str) -> str:
    return f"{path.rpartition('/')[0]}/{name}".lstrip("/")


def _is_file(folder: Folder, path: str) -> bool:
    status = status_of(folder, path)
    return status is not None and stat.S_ISREG(status.st_mode)


def _is_open(folder: Folder, path: str) -> bool:
    try:
        with folder.file(path) as file:
            return is_open_for_writing(file.fileno())
    except (OSError, InvalidInput):
        return False


def _begins(folder: Folder, path: str, magic: bytes) -> bool:
    try:
        with folder.file(path) as file:
            return os.pread(file.fileno(), len(magic), 0) == magic
    except (OSError, InvalidInput):
        return False
