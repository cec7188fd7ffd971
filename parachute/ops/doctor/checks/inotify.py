"""inotify: the system lets as many folders be watched as the vault has."""

import os

from parachute.ops.doctor.computer import Computer
from parachute.ops.doctor.models import Group, NotApplicable, Result, check, ok, warning
from parachute.ops.doctor.mounts import vault

_LIMIT = "/proc/sys/fs/inotify/max_user_watches"
_INSTANCES = "/proc/sys/fs/inotify/max_user_instances"
_FEWEST_INSTANCES = 32
_MOST = 1_000_000
_USED = 0.8
"""The part of the watches that may be ours: editors and sync programs need some, too."""


@check("Watching the vault", Group.MACHINE)
def examine(computer: Computer) -> Result:
    limit, instances = (int(computer.read(name) or 0) for name in (_LIMIT, _INSTANCES))
    if not limit:
        raise NotApplicable("The limit of watched folders cannot be read on this system.")
    if instances and instances < _FEWEST_INSTANCES:
        return warning(f"Only {instances} programs of a user can watch files here.", _raised("max_user_instances", 512))
    allowed = int(limit * _USED)
    folders = _count(computer, min(allowed, _MOST))
    if folders > allowed:
        return warning(
            f"The vault has more than {allowed:,} folders, and {limit:,} can be watched: changes are noticed late.",
            _raised("max_user_watches", 524_288),
        )
    return ok(f"The vault has {folders:,} folders, and {limit:,} can be watched.")


def _raised(name: str, value: int) -> str:
    line = f"fs.inotify.{name}={value}"
    return f"`echo {line} | sudo tee /etc/sysctl.d/60-parachute.conf && sudo sysctl --system` raises it."


def _count(computer: Computer, most: int) -> int:
    """Count the folders of the vault that are watched, up to one more than `most`."""
    count = 0
    waiting = [os.fspath(vault(computer))]
    while waiting and count <= most:
        folder = waiting.pop()
        count += 1
        try:
            with os.scandir(folder) as entries:
                # Hidden ones as well: what happens in them is left out only when it is reported.
                waiting += [entry.path for entry in entries if entry.is_dir(follow_symlinks=False)]
        except OSError:
            continue
    return count
