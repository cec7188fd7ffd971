"""Databases or keys that were lost, and what took their place."""

from parachute.ops.doctor.computer import Computer
from parachute.ops.doctor.models import Fix, Group, Result, check, ok, warning
from parachute.ops.recovery.notices import Notices


@check("Lost files", Group.DATA)
def examine(computer: Computer) -> Result:
    notices = Notices(computer.home.root)
    found = [notice.sentence for notice in notices.read()]
    if not found:
        return ok("Nothing was lost.")
    return warning(
        found[0] if len(found) == 1 else f"{len(found)} files were lost.",
        "Look whether something is missing; a backup may have more (`parachute backup list`). `parachute doctor lost-files --fix` "
        "ends this message.",
        details=tuple(found) if len(found) > 1 else (),
        fix=Fix("Dismiss this message; the damaged files are kept.", lambda: _acknowledge(notices)),
    )


def _acknowledge(notices: Notices) -> str:
    return f"{notices.acknowledge()} messages dismissed."
