"""Opening the folders of a sandbox so that no link leads elsewhere, whatever other agents do to the path meanwhile."""

import errno
import os
import stat

from parachute.errors import InvalidInput
from parachute.sandbox.models import Mount, Specification

_FILE_FLAGS = os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC
_FLAGS = _FILE_FLAGS | os.O_DIRECTORY


def open_mounts(specification: Specification) -> dict[str, int]:
    """An inheritable descriptor for the source of each mount, by its target.

    A read-only folder or file that has gone is left out. Error: InvalidInput if that happens to one that is writable or required.
    """
    opened: dict[str, int] = {}
    for mount in (specification.transcripts_mount, *specification.mounts):
        try:
            opened[mount.target] = _open(mount)
        except OSError as error:
            if mount.writable or mount.required:
                raise InvalidInput(
                    f"{mount.source} cannot be given to an agent: {error.strerror}.", key="not_a_folder"
                ) from error
    return opened


def _open(mount: Mount) -> int:
    """Walk down from the root one name at a time: O_NOFOLLOW looks at the last part of a path only."""
    descriptor = os.open("/", _FLAGS)
    names = mount.source.strip("/").split("/")
    for index, name in enumerate(names):
        flags = _FILE_FLAGS if mount.is_file and index == len(names) - 1 else _FLAGS
        try:
            below = os.open(name, flags, dir_fd=descriptor)
        finally:
            os.close(descriptor)
        descriptor = below
    # O_PATH opens a link itself, a pipe or a device without a word: only a file is given as one.
    if mount.is_file and not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(errno.ELOOP, "it is not a regular file any more")
    os.set_inheritable(descriptor, True)
    return descriptor
