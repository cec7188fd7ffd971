"""The parts of a sandbox's specification that an inspection compares."""

import os
from pathlib import Path

from parachute.sandbox.engines import bubblewrap, podman
from parachute.sandbox.engines.models import Mount, Specification
from parachute.sandbox.layout import is_in

SYSTEM = ("/", "/usr", "/etc")
"""Folders that no agent may write to, whatever is mounted."""

NO_RIGHTS = ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb")
"""The sets of capabilities, all of which are empty."""

LIMITS = {"memory": "memory", "processors": "cpus", "processes": "processes"}
"""The rows of limits, with the names that the control group's have."""

_MESSAGES = "/dev/mqueue"  # between the sandbox's own processes: it has a namespace of its own


def mounts(specification: Specification) -> tuple[Mount, ...]:
    """Everything that is mounted from this machine, without the system's files."""
    return (*specification.mounts, *specification.runtime_mounts, *specification.kept_mounts)


def is_identical(mount: Mount, found: list[int] | None) -> bool:
    """True if a device and an inode are those of what is to be mounted; a view has a device of its own, and often other numbers."""
    asked = identity(mount)
    if mount.view and asked and found:
        return found[0] not in (asked[0], Path(mount.view).stat().st_dev)
    return found == asked


def identity(mount: Mount) -> list[int] | None:
    """Device and inode of what is to be mounted, None where it is gone."""
    try:
        found = Path(mount.source).stat()
    except OSError:
        return None
    return [found.st_dev, found.st_ino]


def may_be_missing(mount: Mount) -> bool:
    """True for a mount that is left out, since its source has gone."""
    return not (mount.writable or mount.required) and identity(mount) is None


def memory(specification: Specification) -> dict[str, int]:
    """The bytes of each folder in memory."""
    return {place.path: place.megabytes << 20 for place in specification.memory}


def bounds(specification: Specification) -> dict[str, float]:
    """The limits that the engine enforces, by the names of their rows."""
    if specification.is_container:
        limits = podman.expected_limits(specification)
        return {row: limits[name] for row, name in LIMITS.items() if name in limits}
    return (
        {"processes": specification.processes} if bubblewrap.counts_processes_by_namespace(os.uname().release) else {}
    )


def is_mounted(specification: Specification, place: str) -> bool:
    """True for a mount point that bubblewrap makes, and below what it mounts from this machine."""
    binds = [mount.target for mount in mounts(specification)]
    binds += [*bubblewrap.system_places(), "/dev", "/proc"]
    return place == "/" or place in memory(specification) or any(is_in(place, bind) for bind in binds)


def may_write(specification: Specification, path: str) -> bool:
    """True where the nearest place above a path that was asked for can be written."""
    writable = {mount.target: mount.writable for mount in mounts(specification)}
    writable |= dict.fromkeys([*memory(specification), _MESSAGES], True)
    while path not in writable and path != "/":
        path = path.rpartition("/")[0] or "/"
    return writable.get(path, False)
