"""`config.yaml` and the environment are valid, and name no settings that are gone."""

from parachute.config.settings.removed import REMOVED
from parachute.config.settings.store import removed_settings
from parachute.ops.doctor.computer import Computer
from parachute.ops.doctor.models import Group, Result, check, ok, problem, warning


@check("Settings", Group.SERVICES)
def examine(computer: Computer) -> Result:
    if error := computer.settings_problem:
        return problem(error.message, error.hint)
    path = computer.home.config
    if gone := removed_settings(computer.home):
        name, line = next(iter(gone.items()))  # when it is taken out, the next one is named
        return warning(
            f"{path}, line {line}: the setting {name} does not exist any more, and is ignored.",
            f"`parachute config unset {name}` takes it out of the file.",
        )
    given = {variable.upper(): variable for variable in computer.environment}
    for name in sorted(REMOVED):
        if variable := given.get(f"PARACHUTE_{name.replace('.', '__').upper()}"):
            return warning(
                f"The variable {variable} is ignored: the setting {name} does not exist any more.",
                "Remove it from where it is set.",
            )
    if not path.exists():
        return ok("No config.yaml: every setting has its default.")
    return ok("config.yaml is understood.")
