"""Whether the model of this machine is there, where it is what answers."""

from parachute.doctor.computer import Computer
from parachute.doctor.models import Check, Group, NotApplicable, Result, ok, problem, warning
from parachute.doctor.provider import provider_name
from parachute.errors import ParachuteError
from parachute.offline.model_file import find_model


def _examine(computer: Computer) -> Result:
    settings = computer.settings
    if settings is None:
        raise NotApplicable("Which model is used cannot be told, because config.yaml cannot be understood.")
    try:
        path = find_model(settings.offline.model)
    except ParachuteError as error:
        if provider_name(computer) == "offline":
            return problem(error.message, error.hint)
        if settings.offline.model:
            return warning(error.message, error.hint or "`parachute config unset offline.model`")
        raise NotApplicable("The model of this machine is not installed, and not used.") from error
    return ok(f"The model of this machine is {path.name}.")


CHECK = Check("Model of this machine", Group.AGENTS, _examine)
