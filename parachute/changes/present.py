"""Present state of a path: in the owner's folder, or in the layer that a view writes to."""

import errno
import os
import stat

from msgspec import Struct

from parachute.base.errors import InvalidInput
from parachute.base.folders import Folder
from parachute.base.signatures import Signature, signature_of
from parachute.changes.blobs import Blobs, Staged
from parachute.changes.models import NOTHING, State

_BEHIND = (errno.ELOOP, errno.ENOTDIR)


class Present(Struct, frozen=True):
    """The state of a path with a copy of its content, and the signature that it had."""

    state: State
    signature: Signature | None = None
    content: Staged | None = None

    def drop(self) -> None:
        """Forget the copy."""
        if self.content is not None:
            self.content.drop()


ABSENT = Present(NOTHING)


def status_of(folder: Folder, path: str) -> os.stat_result | None:
    """The result of lstat(2); None where nothing is, or a link or a file is on the way."""
    try:
        return folder.status(path)
    except (NotADirectoryError, FileNotFoundError):
        return None
    except OSError as error:
        if error.errno in _BEHIND:
            return None
        raise


def look(blobs: Blobs, folder: Folder, path: str, limit: int) -> Present:
    """Look at a path, and copy what is there. Errors: TooLarge, OSError where it cannot be read."""
    status = status_of(folder, path)
    if status is None:
        return ABSENT
    signature, mode = signature_of(status), stat.S_IMODE(status.st_mode)
    if stat.S_ISDIR(status.st_mode):
        return Present(State("folder", mode), signature)
    if stat.S_ISLNK(status.st_mode):
        content = blobs.stage(os.fsencode(folder.link(path)))
        return Present(State("link", 0, content.hash, content.size, status.st_mtime_ns), signature, content)
    if not stat.S_ISREG(status.st_mode):
        return Present(State("other", mode, f"{status.st_mode:o} {status.st_rdev}"), signature)
    try:
        content, signature = blobs.stage_file(folder, path, limit)
    except FileNotFoundError:
        return ABSENT
    except InvalidInput:  # it has become something else meanwhile
        return Present(State("other", mode), signature)
    state = State("file", signature.mode & 0o7777, content.hash, content.size, signature.modified_ns)
    return Present(state, signature, content)
