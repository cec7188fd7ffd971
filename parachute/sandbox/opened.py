"""Opening the folders of a sandbox so that no link leads elsewhere, whatever other agents do to the path meanwhile."""

import os

from parachute.errors import InvalidInput
from parachute.sandbox.models import Mount, Specification

_FLAGS = os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


def open_mounts(specification: Specification) -> dict[str, int]:
    """An inheritable descriptor for the source of each mount, by its target.

    A read-only folder that has gone is left out. Error: InvalidInput if that happens to a writable one.
    """
    opened: dict[str, int] = {}
    for mount in specification.mounts:
        try:
            opened[mount.target] = _open(mount)
        except OSError as error:
            if mount.writable:
                raise InvalidInput(
                    f"{mount.source} cannot be used as a working directory: {error.strerror}."
                ) from error
    return opened


def _open(mount: Mount) -> int:
    """Walk down from the root one name at a time: O_NOFOLLOW looks at the last part of a path only."""
    descriptor = os.open("/", _FLAGS)
    for name in mount.source.strip("/").split("/"):
        try:
            below = os.open(name, _FLAGS, dir_fd=descriptor)
        finally:
            os.close(descriptor)
        descriptor = below
    os.set_inheritable(descriptor, True)
    return descriptor
