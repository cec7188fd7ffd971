"""Search by meaning: its model can be used, if it is switched on."""

from parachute.llm.meaning.source import Source
from parachute.ops.doctor.computer import Computer
from parachute.ops.doctor.models import Group, NotApplicable, Result, check, ok, settings_of, warning


@check("Search by meaning", Group.AGENTS)
def examine(computer: Computer) -> Result:
    settings = settings_of(computer, "search by meaning").meaning
    if not settings.enabled:
        raise NotApplicable("Search by meaning is switched off.")
    source = Source.of_settings(settings)
    if source.error is not None:
        raise NotApplicable(f"Words alone are searched: {source.error.message}")
    if source.kind == "server":
        if settings.key_file is not None and not settings.key_file.is_file():
            return warning(f"meaning.key_file: there is no {settings.key_file}.", "Write the server's key into it.")
        if computer.meaning is not None and computer.meaning.get("problem"):
            return warning(str(computer.meaning["problem"]), "`parachute config` shows the settings of `meaning`.")
        return ok(f"Texts are found by meaning, with {settings.server_model} at {settings.server}.")
    return ok("Texts are found by meaning, with the built-in model.")
