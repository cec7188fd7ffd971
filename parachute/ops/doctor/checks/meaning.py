"""Search by meaning: its model can be used, if it is switched on."""

from parachute.llm.meaning.source import Source
from parachute.ops.doctor.computer import Computer
from parachute.ops.doctor.models import Group, NotApplicable, Result, check, ok, settings_of, warning


@check("Search by meaning", Group.AGENTS)
def examine(computer: Computer) -> Result:
    settings = settings_of(computer, "search by meaning").meaning
    if not settings.enabled:
        raise NotApplicable("Search by meaning is switched off.")
    source = Source(settings.folder)
    if source.error is not None:
        if settings.folder is None:
            raise NotApplicable(f"Words alone are searched: {source.error.message}")
        return warning(source.error.message, source.error.hint or "`parachute config unset meaning.folder`")
    return ok(f"Texts are found by meaning, with {'your model' if settings.folder else 'the built-in table of words'}.")
