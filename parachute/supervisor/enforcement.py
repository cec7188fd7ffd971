"""The permissions of modules that this system does not enforce."""

import os
import re
import shutil
from pathlib import Path
from platform import release

_TOGETHER = "Memory is limited for each process of a module, not for all of them together."


def not_enforced(confines: bool) -> tuple[str, ...]:
    """Sentences about what nothing enforces on this machine; `confines`: the launcher enforces a unit's confinement."""
    if confines:
        return _not_counted(_controllers())
    said = [_TOGETHER]
    if not shutil.which("bwrap"):
        said.append(
            "Without bubblewrap a module reaches the network and all of your files: nothing but its code holds it back."
        )
    elif not counts_by_namespace():
        said.append("The number of a module's processes is not limited: the kernel is older than 5.14.")
    return tuple(said)


def _not_counted(controllers: frozenset[str]) -> tuple[str, ...]:
    said = [] if "memory" in controllers else [_TOGETHER]
    if "pids" not in controllers:
        said.append("The number of a module's processes is not limited: systemd has no control group to count them in.")
    return tuple(said)


def _controllers() -> frozenset[str]:
    """The controllers of the user manager: without cgroup v2, or where root gave it nothing, it silently limits nothing."""
    user = os.getuid()
    folder = Path(f"/sys/fs/cgroup/user.slice/user-{user}.slice/user@{user}.service")
    try:
        return frozenset((folder / "cgroup.controllers").read_text().split())
    except OSError:
        return frozenset()


def counts_by_namespace() -> bool:
    """True if RLIMIT_NPROC counts the processes of a sandbox, and not all of the user's (Linux 5.14)."""
    version = re.match(r"(\d+)\.(\d+)", release())
    return version is not None and (int(version[1]), int(version[2])) >= (5, 14)
