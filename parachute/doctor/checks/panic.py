"""Whether all agents are stopped."""

from parachute.doctor.computer import Computer
from parachute.doctor.models import Check, Group, Result, ok, warning
from parachute.panic.brake import Brake


def _examine(computer: Computer) -> Result:
    if found := Brake(computer.home.root).panic:
        return warning(
            f"All agents are stopped since {found.since}, by {found.by}.", "`parachute resume` lets them work again."
        )
    return ok("Agents may work.")


CHECK = Check("Emergency stop", Group.AGENTS, _examine)
