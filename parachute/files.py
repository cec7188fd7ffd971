"""Files that several programs share: atomic writes, locks, and reads that cannot run away."""

import errno
import fcntl
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from parachute.base.folders import Folder
from parachute.base.unfinished import unfinished_name
from parachute.errors import InvalidInput, Unavailable


def atomic_write(path: Path, data: bytes | str, mode: int = 0o600) -> None:
    """Replace `path` with `data`, so that a reader sees the old file or the new one and nothing between."""
    payload = data.encode() if isinstance(data, str) else data
    temporary = path.with_name(unfinished_name(path.name))
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, mode)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(payload)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    # Without a sync of the folder a power cut may bring the old name back.
    sync_names(path.parent)


def sync_names(folder: Path) -> None:
    """Wait until the names in a folder are on the disk: those of new files, and those that files were renamed to."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def sync_tree(folder: Path) -> None:
    """Wait until a folder is on the disk with all that is in it; a power cut would leave empty files behind."""
    for place, _, names in os.walk(folder):
        for name in names:
            path = Path(place, name)
            if stat.S_ISREG(path.lstat().st_mode):
                descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
                try:
                    os.fsync(descriptor)
                finally:
                    os.close(descriptor)
        sync_names(Path(place))


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold an exclusive lock beside `path`; every program that changes `path` takes it first."""
    descriptor = os.open(path.with_name(f".{path.name}.lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def read_regular(path: Path, limit: int) -> bytes:
    """Read at most `limit` bytes of a regular file, following no link in its last part; errors: OSError, InvalidInput."""
    # O_NONBLOCK: opening a named pipe that an agent left in place would wait for its writer.
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(descriptor, "rb") as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode):
            raise InvalidInput(f"{path} is not a regular file.")
        data = file.read(limit + 1)
    if len(data) > limit:
        raise InvalidInput(f"{path} is larger than {limit:,} bytes.")
    return data


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
