"""`config.yaml` and the environment are valid."""

from parachute.ops.doctor.computer import Computer
from parachute.ops.doctor.models import Group, Result, check, ok, problem


@check("Settings", Group.SERVICES)
def examine(computer: Computer) -> Result:
    if error := computer.settings_problem:
        return problem(error.message, error.hint)
    if not computer.home.config.exists():
        return ok("No config.yaml: every setting has its default.")
    return ok("config.yaml is understood.")
