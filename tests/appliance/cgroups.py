"""Control groups of a guest: one of its own in each hierarchy that systemd uses, so that two guests never share one."""

import os
import secrets
from pathlib import Path

_PREFIX = "parachute-appliance-"


def make() -> list[Path]:
    """New groups below this process's own, for `boot.sh` to enter; those of guests long gone are removed first."""
    made = []
    name = f"{_PREFIX}{os.getpid()}-{secrets.token_hex(4)}"
    for parent in _own():
        for old in parent.glob(f"{_PREFIX}*"):
            if not Path("/proc", old.name.split("-")[2]).exists():
                remove([old])
        group = parent / name
        group.mkdir()
        made.append(group)
    return made


def remove(groups: list[Path]) -> None:
    """Remove groups with all that are in them; a group that holds processes stays."""
    for group in groups:
        for folder, _, _ in os.walk(group, topdown=False):
            try:
                Path(folder).rmdir()
            except OSError:
                pass  # in use by another's guest: its owner removes it


def left(process: int) -> list[Path]:
    """The groups of that process's guests that are still there."""
    return [group for parent in _own() for group in parent.glob(f"{_PREFIX}{process}-*")]


def _own() -> list[Path]:
    paths = {}
    for line in Path("/proc/self/cgroup").read_text().splitlines():
        _, controllers, path = line.split(":", 2)
        paths[controllers] = path
    found = []
    for line in Path("/proc/self/mountinfo").read_text().splitlines():
        mount, _, file_system = line.partition(" - ")
        kind, _, options = file_system.split(" ", 2)
        controllers = "" if kind == "cgroup2" else "name=systemd"
        if kind == "cgroup2" or (kind == "cgroup" and "name=systemd" in options.split(",")):
            found.append(Path(mount.split(" ")[4]) / paths.get(controllers, "/").lstrip("/"))
    return [path for path in found if os.access(path, os.W_OK)]
