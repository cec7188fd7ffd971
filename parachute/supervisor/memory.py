"""The memory of a unit: its private pages, and what it wrote to file systems in memory."""

import contextlib
from collections.abc import Iterable
from pathlib import Path

from parachute_runner import processes

_GROUPS = Path("/sys/fs/cgroup")
_IN_GROUP = ("anon", "shmem")
_IN_PROCESS = ("RssAnon:", "RssShmem:")


def held_bytes(process: int, service: str) -> int:
    """The bytes of the unit with this main process; `service` is the name of its control group, where it has one.

    Without a control group that counts, its processes are added up: then files that it wrote to memory are in it only as far
    as a process has them open for reading from memory. 0 where there is no /proc.
    """
    group = _group(process, service)
    if group is None:
        return _of_processes([process, *processes.descendants(process)])
    try:
        return _of_group(group)
    except OSError:  # nothing counts memory in this hierarchy
        return _of_processes(_members(group))


def _group(process: int, service: str) -> Path | None:
    try:
        lines = Path(f"/proc/{process}/cgroup").read_text().splitlines()
    except OSError:
        return None
    own = next((line.removeprefix("0::") for line in lines if line.startswith("0::")), "")
    parts = own.strip("/").split("/")
    # A container has groups of its own below that of the service.
    return _GROUPS.joinpath(*parts[: parts.index(service) + 1]) if service in parts else None


def _of_group(group: Path) -> int:
    rows = (line.split() for line in (group / "memory.stat").read_text().splitlines())
    return sum(int(value) for name, value in rows if name in _IN_GROUP)


def _members(group: Path) -> list[int]:
    found: list[int] = []
    for file in group.rglob("cgroup.procs"):
        with contextlib.suppress(OSError):
            found += map(int, file.read_text().split())
    return found


def _of_processes(found: Iterable[int]) -> int:
    total = 0
    for process in found:
        with contextlib.suppress(OSError):  # it has just ended
            rows = (line.split() for line in Path(f"/proc/{process}/status").read_text().splitlines())
            total += sum(int(row[1]) * 1024 for row in rows if row and row[0] in _IN_PROCESS)
    return total
