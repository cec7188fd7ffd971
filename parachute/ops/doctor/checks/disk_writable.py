"""Disks are writable; one with errors is often made read-only by the system."""

import os

from parachute.base.disk_errors import takes_nothing
from parachute.ops.doctor.computer import Computer
from parachute.ops.doctor.models import Group, Result, check, ok, problem
from parachute.ops.doctor.mounts import existing, places


@check("Writing to the disk", Group.MACHINE)
def examine(computer: Computer) -> Result:
    read_only: list[str] = []
    closed: list[str] = []
    for name, path in places(computer).items():
        folder = existing(path)
        # After an error of the disk its flags say nothing. A folder that is not there yet is not written beside.
        if os.statvfs(folder).f_flag & os.ST_RDONLY or (folder == path and takes_nothing(folder / "doctor")):
            read_only.append(f"the {name} {path}")
        elif not os.access(folder, os.W_OK | os.X_OK):
            closed.append(f"the {name} {path}")
    if read_only:
        return problem(
            f"The disk is read-only: {', '.join(read_only)}.",
            "`sudo dmesg | grep -i error` shows whether the disk has failed: copy what is on it first, then check it with fsck. "
            "Otherwise `sudo mount -o remount,rw` and the place it is mounted at.",
        )
    if closed:
        return problem(
            f"This user cannot write to {', '.join(closed)}.",
            f"Give it back: sudo chown -R {computer.user} and that folder.",
        )
    return ok("The vault and the state directory can be written.")
