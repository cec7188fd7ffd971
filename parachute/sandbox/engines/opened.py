"""Opening the folders of a sandbox so that no link leads elsewhere, whatever other agents do to the path meanwhile."""

import errno
import os
import stat
from pathlib import Path

from parachute.base.errors import InvalidInput
from parachute.base.folders import Folder
from parachute.sandbox.engines import views
from parachute.sandbox.engines.models import Mount, Specification


def open_mounts(specification: Specification) -> dict[str, int]:
    """An inheritable descriptor for the source of each mount, by its target.

    A read-only folder or file that has gone is left out. Views are mounted, for which this process has to be in a namespace of
    its own. Error: InvalidInput if one that is writable or required is missing, or a view cannot be mounted.
    """
    opened: dict[str, int] = {}
    for mount in (*specification.kept_mounts, *specification.mounts):
        if mount.view and not specification.is_container:  # Podman mounts its views itself
            opened[mount.target] = views.opened(mount.source, mount.view, mount.part)
            continue
        try:
            opened[mount.target] = _open(mount)
        except OSError as error:
            if mount.writable or mount.required:
                raise InvalidInput(
                    f"{mount.source} cannot be given to an agent: {error.strerror}.", key="not_a_folder"
                ) from error
    return opened


def _open(mount: Mount) -> int:
    with Folder.open(Path("/")) as root:
        descriptor = root.descriptor(mount.source.strip("/"), os.O_PATH | (0 if mount.is_file else os.O_DIRECTORY))
    # O_PATH opens a pipe or a device without a word: only a file is given as one.
    if mount.is_file and not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(errno.ELOOP, "it is no longer a regular file")
    os.set_inheritable(descriptor, True)
    return descriptor
