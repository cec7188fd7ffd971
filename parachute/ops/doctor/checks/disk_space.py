"""Disk space: room for bytes, and for more files."""

import os
from pathlib import Path

from parachute.ops.doctor.computer import Computer
from parachute.ops.doctor.models import Group, Result, check, ok, problem, warning
from parachute.ops.doctor.mounts import existing, places

_LEAST, _FEW = 200 << 20, 1 << 30
_LEAST_FILES, _FEW_FILES = 500, 5000
_ROOM = (
    "Remove what you do not need: `du -xh --max-depth 2 ~ | sort -h | tail` shows the largest folders, "
    "`podman image prune` removes images that nothing uses."
)


@check("Room on the disk", Group.MACHINE)
def examine(computer: Computer) -> Result:
    named = {**places(computer), "temporary files": Path(computer.environment.get("TMPDIR") or "/tmp")}  # noqa: S108
    seen: set[int] = set()
    full: list[str] = []
    scarce: list[str] = []
    for name, path in named.items():
        folder = existing(path)
        device = folder.stat().st_dev
        if device in seen:
            continue
        seen.add(device)
        status = os.statvfs(folder)
        free, files = status.f_bavail * status.f_frsize, status.f_favail
        small = status.f_blocks * status.f_frsize < 4 * _FEW  # a small disk is not short of room by its size
        if free < _LEAST:
            full.append(f"{free >> 20:,} MB are free for the {name} in {folder}")
        elif free < (_LEAST * 2 if small else _FEW):
            scarce.append(f"{free >> 20:,} MB are free for the {name} in {folder}")
        if status.f_files and files < _LEAST_FILES:  # some file systems do not count files, and say 0
            full.append(f"{files:,} more files can be made for the {name} in {folder}")
        elif status.f_files and files < _FEW_FILES:
            scarce.append(f"{files:,} more files can be made for the {name} in {folder}")
    if full:
        return problem(f"The disk is full: {'; '.join(full)}.", _ROOM)
    if scarce:
        return warning(f"The disk is nearly full: {'; '.join(scarce)}.", _ROOM)
    return ok("The disk has enough room.")
