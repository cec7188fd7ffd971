"""The memory of conversations: hooks ask the model what is worth remembering, if there is one for it."""

from parachute.events.hooks import configuration
from parachute.ops.doctor.computer import Computer
from parachute.ops.doctor.models import Group, NotApplicable, Result, check, ok, warning


@check("Memory of conversations", Group.AGENTS)
def examine(computer: Computer) -> Result:
    memory = computer.memory
    if memory is None:
        raise NotApplicable("The computer must run to check whether notes are made of conversations.")
    if not memory["hooks"] and configuration.read(computer.home.root).problems:
        raise NotApplicable("Hooks make notes of conversations, and hooks.yaml has a mistake: see `hooks`.")
    if not memory["hooks"]:
        return ok("No notes are made of conversations, because hooks.yaml has none of the hooks that make them.")
    if memory["reason"]:
        return warning(
            f"Memory is off: {memory['reason']}",
            "`parachute auth login` connects Claude, `parachute hooks list` shows the hooks.",
        )
    return ok(f"Notes are made of conversations, by {', '.join(memory['hooks'])}.")
