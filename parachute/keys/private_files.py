"""Files that only their owner may read: how they are checked before anything in them is believed."""

import logging
import os
import stat
from dataclasses import dataclass
from pathlib import Path

from parachute.errors import ParachuteError

log = logging.getLogger(__name__)


class NotPrivate(ParachuteError):
    """A file that holds rights is not what only its owner could have written."""

    status = 503
    key = "not_private"


@dataclass(frozen=True, slots=True)
class Signature:
    """What tells two states of a file apart without reading it."""

    modified_ns: int
    changed_ns: int
    inode: int
    size: int
    mode: int
    owner: int


@dataclass(frozen=True, slots=True)
class PrivateFile:
    """The content of a private file, its signature after the checks, and what had to be put right."""

    data: bytes
    signature: Signature
    warnings: tuple[str, ...]


def signature_of(status: os.stat_result) -> Signature:
    """The signature that belongs to the result of a stat call."""
    return Signature(
        status.st_mtime_ns, status.st_ctime_ns, status.st_ino, status.st_size, status.st_mode, status.st_uid
    )


def current_signature(path: Path) -> Signature | None:
    """The signature of the file as it is now, None if there is none; links are not followed."""
    try:
        return signature_of(os.stat(path, follow_symlinks=False))  # noqa: PTH116 - half the time of Path.lstat, on every request
    except FileNotFoundError:
        return None


def check_private_folder(folder: Path) -> tuple[str, ...]:
    """Refuse a folder of somebody else, close one that others may enter; returns what was put right."""
    status = folder.lstat()
    if not stat.S_ISDIR(status.st_mode):
        raise NotPrivate(f"{folder} is not a folder.", "A link is not followed here; move the folder itself there.")
    if status.st_uid != os.geteuid():
        raise NotPrivate(
            f"{folder} belongs to the user with number {status.st_uid}, not to the one this program runs as.",
            f"Give it back with: chown -R {os.geteuid()} {folder}",
        )
    if not status.st_mode & 0o077:
        return ()
    folder.chmod(0o700)
    return (_warn(f"{folder} was open to other users (mode {stat.S_IMODE(status.st_mode):04o}); it is closed now."),)


def read_private(path: Path, limit: int) -> PrivateFile:
    """Read a regular file of our own, at most `limit` bytes; one that others may read is closed to them first.

    Errors: FileNotFoundError, NotPrivate, other OSError.
    """
    warnings = check_private_folder(path.parent)
    try:
        # O_NONBLOCK: opening a named pipe would wait for its writer.
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        raise
    except OSError as error:
        raise NotPrivate(
            f"{path} cannot be read: {error.strerror or error}.", "A link is not followed here."
        ) from error
    with os.fdopen(descriptor, "rb") as file:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise NotPrivate(f"{path} is not a regular file.")
        if status.st_uid != os.geteuid():
            raise NotPrivate(
                f"{path} belongs to the user with number {status.st_uid}, not to the one this program runs as.",
                f"Give it back with: chown {os.geteuid()} {path}",
            )
        if status.st_mode & 0o077:
            os.fchmod(descriptor, 0o600)
            mode = stat.S_IMODE(status.st_mode)
            warnings += (_warn(f"{path} was open to other users (mode {mode:04o}); it is closed now."),)
            status = os.fstat(descriptor)
        data = file.read(limit + 1)
    if len(data) > limit:
        raise NotPrivate(f"{path} is larger than {limit:,} bytes.")
    return PrivateFile(data, signature_of(status), warnings)


def _warn(sentence: str) -> str:
    log.warning("%s", sentence)
    return sentence
