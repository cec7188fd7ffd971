"""The kill switch: all agents are stopped."""

from parachute.ops.doctor.computer import Computer
from parachute.ops.doctor.models import Group, Result, check, ok, warning
from parachute.security.kill_switch.switch import KillSwitch, Panic


@check("Kill switch", Group.AGENTS)
def examine(computer: Computer) -> Result:
    # The supervisor remembers what no disk took.
    reported = (computer.supervisor or {}).get("panic")
    if found := Panic(**reported) if reported else KillSwitch(computer.home.root).panic:
        return warning(
            f"All agents are stopped since {found.since}, by {found.by}.",
            " ".join(filter(None, ("`parachute resume` lets them work again.", found.warning))),
        )
    return ok("Agents may work.")
