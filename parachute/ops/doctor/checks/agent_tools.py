"""Programs that agents under bubblewrap have of this machine: git, Python, Node, a compiler."""

from parachute.ops.doctor.computer import Computer
from parachute.ops.doctor.models import Group, NotApplicable, Result, check, ok
from parachute.ops.doctor.podman import wants_containers
from parachute.ops.doctor.programs import is_there
from parachute.sandbox.image import contents


@check("Tools of agents", Group.AGENTS)
def examine(computer: Computer) -> Result:
    if wants_containers(computer):
        raise NotApplicable("Agents run in containers, whose image has its own tools.")
    if not is_there(computer, "bwrap"):
        raise NotApplicable("bubblewrap is not installed.")
    missing = contents.missing(computer.root)
    if not missing:
        return ok("Agents find every tool that the image of containers has.")
    command = contents.installing(missing, computer.environment.get("PATH"))
    names = ", ".join(program.name for program in missing)
    # No warning: agents say what they lack, and many a computer needs no compiler.
    if command:
        return ok(
            f"Programs that agents like to use are not installed here: {names}. `{command}` installs what is missing."
        )
    return ok(
        f"Programs that agents like to use are not installed here: {names}. The package manager of this system may have them."
    )
