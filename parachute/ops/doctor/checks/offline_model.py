"""The offline model: its file is there, if the model is used."""

from parachute.base.errors import ParachuteError
from parachute.llm.offline.model_file import find_model
from parachute.ops.doctor.computer import Computer
from parachute.ops.doctor.models import Group, NotApplicable, Result, check, ok, problem, settings_of, warning
from parachute.ops.doctor.provider import provider_name


@check("Model of this machine", Group.AGENTS)
def examine(computer: Computer) -> Result:
    settings = settings_of(computer, "the model")
    try:
        path = find_model(settings.offline.model)
    except ParachuteError as error:
        if provider_name(computer) == "offline":
            return problem(error.message, error.hint)
        if settings.offline.model:
            return warning(error.message, error.hint or "`parachute config unset offline.model`")
        raise NotApplicable("The model of this machine is not installed, and not used.") from error
    return ok(f"The model of this machine is {path.name}.")
