"""The version of systemd: new enough to enforce the rendered units."""

import re

from parachute.ops.doctor.computer import Computer
from parachute.ops.doctor.models import Group, Result, check, ok, warning
from parachute.ops.doctor.programs import ask
from parachute.ops.doctor.systemd import check_runs

_OLDEST, _COMPLETE = 254, 257


@check("systemd", Group.SERVICES)
def examine(computer: Computer) -> Result:
    check_runs(computer)
    answer = ask(computer, "systemctl", "--version")
    found = re.match(r"systemd (\d+)", answer.out)
    if not found:
        return warning(
            "systemctl does not report its version.",
            f"Its message was: {(answer.err or answer.out)[:200] or 'nothing'}",
        )
    version = int(found[1])
    update = "Update the system; Debian 13 and NixOS 25.05 have 257."
    if version < _OLDEST:
        return warning(
            f"systemd is {version}; from {_OLDEST} on services are restarted with pauses that grow.",
            f"{update} Until then `parachute start` runs the computer without services.",
        )
    if version < _COMPLETE:
        return warning(
            f"systemd is {version}; before {_COMPLETE} services of one user can see each other's processes.", update
        )
    return ok(f"systemd is {version}.")
