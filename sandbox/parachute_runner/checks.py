"""Checks from inside that a container is what was asked for, whatever its engine did."""

import os
from collections.abc import Iterable

_CONTROL_GROUP = "/sys/fs/cgroup"


class Differs(Exception):
    """The container is not what was asked for; the message says in which way."""


def mounted(expected: Iterable[str]) -> None:
    """See that each `rw|ro|view:DEVICE:INODE:TARGET` is that very file or folder, reached without a link; error: Differs.

    A copy-on-write view of it has a device of its own, and often other numbers.

    Engines look at a path again when they mount it: by then another agent may have put something else in its place. Nothing
    that lies below a read-only target may be writable either, unless it is a target itself.
    """
    places = mount_points()
    targets = {text.split(":", 3)[3] for text in expected}
    for text in expected:
        access, device, inode, target = text.split(":", 3)
        found = identity(target)
        if found[0] == int(device) if access == "view" else found != (int(device), int(inode)):
            raise Differs(f"{target} is not what was to be mounted there")
        below = f"{target}/"
        if access != "ro":
            if not places.get(target, False):
                raise Differs(f"{target} cannot be written")
            continue
        if places.get(target, True):
            raise Differs(f"{target} is not read-only")
        for place, writable in places.items():
            if writable and place.startswith(below) and place not in targets:
                raise Differs(f"{place} can be written, below a read-only folder")


def unprotected(before: dict[str, bool]) -> str | None:
    """A mount point of `before` that has gone although it lay in a folder that can be written, or None."""
    now = mount_points()
    for place in before.keys() - now.keys():
        if any(writable and place.startswith(f"{above}/") for above, writable in before.items()):
            return place
    return None


def limited(expected: dict[str, float]) -> None:
    """See that the control group has these limits of `memory` (bytes), `processes` and `cpus`; error: Differs."""
    if not expected:
        return
    found = limits_in_force()
    for name, value in expected.items():
        actual = found[name]
        if actual is None or actual > value * 1.01:
            raise Differs(
                f"the limit of {name} is {'not there' if actual is None else f'{actual:g}'} instead of {value:g}"
            )


def limits_in_force() -> dict[str, float | None]:
    """The limits of the control group; None where there is no limit, or no control group of the second kind to ask."""
    return {"memory": _number("memory.max"), "processes": _number("pids.max"), "cpus": _processors()}


def ended_for_memory() -> int:
    """The number of processes of the sandbox that were ended because its memory was full; 0 where nothing counts them."""
    try:
        with open(f"{_CONTROL_GROUP}/memory.events", encoding="ascii") as file:
            return int(dict(line.split() for line in file)["oom_kill"])
    except (OSError, KeyError, ValueError):
        return 0


def shut_in() -> None:
    """See that there are no rights, no network and no root file system to write to; error: Differs."""
    with open("/proc/self/status", encoding="ascii", errors="replace") as file:
        status = dict(line.rstrip("\n").split(":\t", 1) for line in file if ":\t" in line)
    if (os.getuid(), os.getgid()) != (1000, 1000):
        raise Differs(f"the user is {os.getuid()}")
    for name in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"):
        if int(status[name], 16):
            raise Differs(f"there are rights ({name})")
    if status["NoNewPrivs"] != "1":
        raise Differs("new rights can be gained")
    if status["Seccomp"] != "2":
        raise Differs("system calls are not filtered")
    with open("/proc/net/dev", encoding="ascii", errors="replace") as file:
        interfaces = {line.partition(":")[0].strip() for line in file if ":" in line}
    if interfaces - {"lo"}:
        raise Differs(f"there is a network ({', '.join(sorted(interfaces - {'lo'}))})")
    if mount_points().get("/", True):
        raise Differs("the root can be written")


def identity(target: str) -> tuple[int, int]:
    """Device and inode, found by walking down from the root one name at a time, so that no link is followed."""
    flags = os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC
    descriptor = os.open("/", flags | os.O_DIRECTORY)
    try:
        for name in target.strip("/").split("/"):
            try:
                below = os.open(name, flags, dir_fd=descriptor)
            except OSError as error:
                raise Differs(f"{target} is not there ({error.strerror})") from error
            os.close(descriptor)
            descriptor = below
        found = os.fstat(descriptor)
    finally:
        os.close(descriptor)
    return found.st_dev, found.st_ino


def mount_points(process: int | str = "self") -> dict[str, bool]:
    """Each mount point, True if it can be written; of several on one place the last one counts."""
    places = {}
    with open(f"/proc/{process}/mountinfo", encoding="utf-8", errors="surrogateescape") as file:
        for line in file:
            fields = line.split(" ")
            own, shared = fields[5].split(","), line.rpartition(" ")[2].strip().split(",")
            places[_unescaped(fields[4])] = "rw" in own and "rw" in shared
    return places


def _unescaped(text: str) -> str:
    for escaped, plain in (("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")):
        text = text.replace(escaped, plain)
    return text


def _number(name: str) -> float | None:
    try:
        with open(f"{_CONTROL_GROUP}/{name}", encoding="ascii") as file:
            text = file.read().strip()
    except OSError:
        return None
    return float(text) if text.isdigit() else None


def _processors() -> float | None:
    try:
        with open(f"{_CONTROL_GROUP}/cpu.max", encoding="ascii") as file:
            quota, period = file.read().split()
    except (OSError, ValueError):
        return None
    return int(quota) / int(period) if quota.isdigit() else None
