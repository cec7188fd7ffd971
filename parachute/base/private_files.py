"""Files that only their owner may read: how they are checked before anything in them is believed."""

import errno
import logging
import os
import stat
from pathlib import Path

from msgspec import Struct

from parachute.base.errors import InvalidInput, ParachuteError
from parachute.base.folders import Folder
from parachute.base.signatures import Signature, signature_of

log = logging.getLogger(__name__)


class NotPrivate(ParachuteError):
    """A file that holds rights is not what only its owner could have written."""

    status = 503
    key = "not_private"


class PrivateFile(Struct, frozen=True):
    """The content of a private file, its signature after the checks, and what had to be put right."""

    data: bytes
    signature: Signature
    warnings: tuple[str, ...]


def check_private_folder(folder: Path) -> tuple[str, ...]:
    """Refuse a folder of somebody else, close one that others may enter; returns what was put right."""
    opened, warnings = _open_private(folder)
    opened.close()
    return warnings


def read_private(path: Path, limit: int) -> PrivateFile:
    """Read a regular file of our own, at most `limit` bytes; one that others may read is closed to them first.

    Errors: FileNotFoundError, NotPrivate, other OSError.
    """
    folder, warnings = _open_private(path.parent)
    with folder:
        try:
            file = folder.file(path.name)
        except FileNotFoundError:
            raise
        except OSError as error:
            raise NotPrivate(
                f"{path} cannot be read: {error.strerror or error}.", "A link is not followed here."
            ) from error
        except InvalidInput as error:
            raise NotPrivate(f"{path} is not a regular file.") from error
    with file:
        warnings += _close_to_others(path, file.fileno(), 0o600, f"chown {os.geteuid()} {path}")
        status = os.fstat(file.fileno())
        data = file.read(limit + 1)
    if len(data) > limit:
        raise NotPrivate(f"{path} is larger than {limit:,} bytes.")
    return PrivateFile(data, signature_of(status), warnings)


def _open_private(path: Path) -> tuple[Folder, tuple[str, ...]]:
    command = f"chown -R {os.geteuid()} {path}"
    with Folder.open(path.parent) as above:
        try:
            folder = above.folder(path.name)
        except OSError as error:
            if error.errno == errno.EACCES and (status := above.status(path.name)) is not None:
                _check_owner(path, status, command)
            if error.errno not in (errno.ELOOP, errno.ENOTDIR):
                raise
            raise NotPrivate(
                f"{path} is not a folder.", "A link is not followed here; move the folder itself there."
            ) from error
    try:
        return folder, _close_to_others(path, folder.fileno(), 0o700, command)
    except BaseException:
        folder.close()
        raise


def _close_to_others(path: Path, descriptor: int, mode: int, command: str) -> tuple[str, ...]:
    status = os.fstat(descriptor)
    _check_owner(path, status, command)
    if not status.st_mode & 0o077:
        return ()
    os.fchmod(descriptor, mode)
    return (_warn(f"{path} was open to other users (mode {stat.S_IMODE(status.st_mode):04o}); it is closed now."),)


def _check_owner(path: Path, status: os.stat_result, command: str) -> None:
    if status.st_uid != os.geteuid():
        raise NotPrivate(
            f"{path} belongs to the user with number {status.st_uid}, not to the one this program runs as.",
            f"Give it back with: {command}",
        )


def _warn(sentence: str) -> str:
    log.warning("%s", sentence)
    return sentence
