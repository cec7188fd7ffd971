"""Files that several programs share: atomic writes, locks, and reads that cannot run away."""

import errno
import fcntl
import os
import re
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Literal

from parachute.base.errors import InvalidInput, Unavailable
from parachute.base.folders import Folder
from parachute.base.opening import parts_of

_MOST = 1_000_000
"""Entries of a tree that is waited for: a module with all its packages."""

_NAME_LIMIT = 100
_UNBOUNDED = 1 << 60

Kind = Literal["file", "dir", "symlink"]


def atomic_write(path: Path, data: bytes | str, mode: int = 0o600) -> None:
    """Replace `path` with `data`, so that a reader sees the old file or the new one and nothing between."""
    with _named(path), Folder.open(path.parent) as folder:
        folder.write(path.name, data, mode)


def sync_names(folder: Path) -> None:
    """Wait until the names in a folder are on the disk: those of new files, and those that files were renamed to."""
    with Folder.open(folder) as opened:
        opened.sync()


def sync_tree(folder: Path) -> None:
    """Wait until a folder is on the disk with all that is in it; a power cut would leave empty files behind."""
    with Folder.open(folder) as root:
        for _, each, entries in root.walk(most=_MOST):
            for entry in entries:
                if entry.is_file(follow_symlinks=False):
                    with each.file(entry.name) as file:
                        os.fsync(file.fileno())
            each.sync()


def walk_tree(
    root: Path,
    *,
    leave_out: Callable[[str], bool] = lambda path: False,
    missed: Callable[[str, OSError], None] = lambda path, error: None,
) -> Iterator[tuple[str, os.stat_result]]:
    """Everything in a folder of any size, and `.` for itself, by relative paths; each folder before what is in it.

    Entries for which `leave_out` is true are not entered; `missed` gets what cannot be read. Error: OSError of the root.
    """
    yield ".", os.lstat(root)
    try:
        top = Folder.open(root)
    except OSError as error:
        missed(".", error)
        return
    with top:
        walked = top.walk(
            deepest=_UNBOUNDED, most=_UNBOUNDED, unreadable=lambda path, error: missed(path or ".", error)
        )
        for place, _, entries in walked:
            prefix = f"{place}/" if place else ""
            entries[:] = [entry for entry in entries if not leave_out(f"{prefix}{entry.name}")]
            for entry in entries:
                try:
                    status = entry.stat(follow_symlinks=False)
                except OSError as error:
                    missed(f"{prefix}{entry.name}", error)
                else:
                    yield f"{prefix}{entry.name}", status


def kind_of(status: os.stat_result) -> Kind | None:
    """Say what kind of file it is; None for sockets, pipes and devices."""
    if stat.S_ISREG(status.st_mode):
        return "file"
    if stat.S_ISDIR(status.st_mode):
        return "dir"
    return "symlink" if stat.S_ISLNK(status.st_mode) else None


@contextmanager
def writable_parent(root: Path, path: str) -> Iterator[tuple[Folder, str]]:
    """The folder above a path and the last name; made if need be, and writable within the block.

    No link on the way is followed. Errors: OSError, InvalidInput for a path that leads out of the root.
    """
    *above, name = parts_of(path) or ("..",)
    if name == "..":
        raise InvalidInput(f"{path!r} names nothing in its folder.", key="path_leads_out")
    with Folder.open(root) as top, top.folder("/".join(above), make=True) as folder:
        mode = stat.S_IMODE(os.fstat(folder.fileno()).st_mode)
        os.fchmod(folder.fileno(), mode | stat.S_IRWXU)
        try:
            yield folder, name
        finally:
            os.fchmod(folder.fileno(), mode)


def remove_tree(path: Path, below: Path | None = None) -> None:
    """Remove a file or a folder with all that is in it, as `Folder.remove_tree` does; no folder above it up to `below` is a link.

    Error: OSError.
    """
    top = below or path.parent
    with suppress(FileNotFoundError), Folder.open(top) as folder:
        folder.remove_tree(path.relative_to(top))


def remove_database(path: Path) -> None:
    """Remove a database that can be made anew and what SQLite keeps next to it, also a folder that has its name. Error: OSError."""
    for end in ("", "-wal", "-shm"):
        remove_tree(path.with_name(f"{path.name}{end}"))


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold an exclusive lock for `path`, a file next to it; every program that changes `path` takes it first."""
    with Folder.open(path.parent) as folder:
        descriptor = folder.descriptor(f".{path.name}.lock", os.O_RDWR | os.O_CREAT)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def read_regular(path: Path, limit: int) -> bytes:
    """Read at most `limit` bytes of a regular file, following no link in its last part; errors: OSError, InvalidInput."""
    with _named(path), Folder.open(path.parent) as folder:
        return folder.read(path.name, limit)


@contextmanager
def _named(path: Path) -> Iterator[None]:
    """The whole path in errors that have only its last part."""
    try:
        yield
    except OSError as error:
        if error.errno is not None:
            error.filename, error.filename2 = str(path), None
        raise
    except InvalidInput as error:
        raise InvalidInput(f"{path.parent}/{error.message}", key=error.key) from error


def private_folder(path: Path, below: Path | None = None) -> Path:
    """Make a folder that only its owner can enter, and return it; neither it nor a folder above it up to `below` is a link.

    Errors: Unavailable for a link, OSError.
    """
    top = below or path.parent
    top.mkdir(mode=0o700, parents=True, exist_ok=True)
    try:
        with Folder.open(top) as above, above.folder(path.relative_to(top), make=True) as folder:
            if stat.S_IMODE(os.fstat(folder.fileno()).st_mode) & 0o077:
                os.fchmod(folder.fileno(), 0o700)
    except OSError as error:
        if error.errno not in (errno.ELOOP, errno.ENOTDIR):
            raise
        raise Unavailable(
            f"{path} is a link or no folder, or one above it is; nothing is kept behind a link there.",
            "Put the folder itself in its place.",
            key="not_a_folder",
        ) from error
    return path


def random_name(path: Path, hint: str) -> str:
    """The name in a file, which is made when it is first asked for; error: InvalidInput with the hint if it holds none."""
    with locked(path):
        try:
            found = read_regular(path, _NAME_LIMIT).decode(errors="replace").strip()
        except FileNotFoundError:
            found = os.urandom(8).hex()
            atomic_write(path, f"{found}\n")
    if not re.fullmatch(r"[0-9a-f]{16}", found):
        raise InvalidInput(f"{path} does not hold the name of an installation.", hint, key="no_installation")
    return found
