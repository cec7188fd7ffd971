"""The container image: containers start from it, and the program of agents in them."""

from parachute.base.errors import InvalidInput
from parachute.config.agent_program import agent_program
from parachute.ops.doctor.computer import Computer
from parachute.ops.doctor.models import Group, Result, check, ok, problem, warning
from parachute.ops.doctor.podman import check_wanted
from parachute.ops.doctor.programs import ask
from parachute.sandbox.engines import containers, podman
from parachute.sandbox.engines.engines import trial
from parachute.sandbox.image import recipe
from parachute.sandbox.image.contents import debian_packages
from parachute.sandbox.image.models import Image
from parachute.sandbox.layout import PROGRAM

_BUILD = "`parachute sandbox build` makes it again."
_START_SECONDS = 50.0


@check("Image of containers", Group.AGENTS, seconds=200)
def examine(computer: Computer) -> Result:
    check_wanted(computer)
    assert computer.settings is not None
    try:
        image = Image.load(computer.home.root)
    except InvalidInput as error:
        return problem(error.message, error.hint)
    if image is None:
        return problem(
            "Agents should run in containers, but there is no image for them yet.", "`parachute sandbox build`"
        )
    chosen = computer.settings.sandbox
    specification = trial(computer.home, chosen, image.id)
    if reason := containers.unavailable(specification):
        return problem(reason, f"{_BUILD} `parachute sandbox status` shows which engine is used until then.")
    path = agent_program()
    if path.is_file():
        command = ["podman", "run", *podman.isolation(specification, log="none")]
        command += [*podman.mount(str(path), PROGRAM, writable=False), image.id, PROGRAM, "--version"]
        answer = ask(computer, *command, seconds=_START_SECONDS)
        if answer.code != 0:
            said = (answer.err or answer.out).splitlines()[-1:] or ["no reason was given"]
            return problem(f"The program of agents does not start in a container: {said[0][:300]}.", _BUILD)
    if recipe.is_older(image.recipe, debian_packages(chosen.packages, chosen.without)):
        return warning("The image was made by another recipe than today's.", _BUILD)
    return ok(f"Containers start from {image.tag}, and the program of agents in them.")
