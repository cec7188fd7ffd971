"""Hooks: a file with a mistake in it brings none of them."""

from parachute.events.hooks import configuration
from parachute.ops.doctor.computer import Computer
from parachute.ops.doctor.models import Group, Result, check, ok, problem


@check("Hooks", Group.AGENTS)
def examine(computer: Computer) -> Result:
    found = configuration.read(computer.home.root)
    if found.problems:
        return problem(
            f"Hooks do not run: {found.problems[0]}",
            "Fix the file that it names; this takes effect at once. `parachute hooks list` shows the hooks.",
            details=found.problems,
        )
    return ok(f"{len(found.hooks)} hooks can be read.")
