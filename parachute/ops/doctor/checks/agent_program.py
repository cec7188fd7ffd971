"""The program of agents starts: kernels with pages of 16 KB, as of a Pi 5, could refuse it."""

from parachute.base.errors import InvalidInput
from parachute.config.agent_program import agent_program
from parachute.ops.doctor.computer import Computer
from parachute.ops.doctor.models import Group, Result, check, ok, problem
from parachute.ops.doctor.programs import ask

_AGAIN = "Install the computer again: the program comes with the package claude-agent-sdk."


@check("Program of agents", Group.AGENTS)
def examine(computer: Computer) -> Result:
    try:
        path = agent_program()
    except InvalidInput as error:
        return problem(error.message, _AGAIN)
    if not path.is_file():
        return problem(f"The program of agents is not installed: there is no {path}.", _AGAIN)
    answer = ask(computer, str(path), "--version")
    if answer.code != 0:
        said = (answer.err or answer.out).splitlines()[-1:] or ["no reason was given"]
        return problem(f"The program of agents does not start: {said[0][:200]} (status {answer.code}).", _AGAIN)
    return ok(f"The program of agents starts: {answer.out.splitlines()[0][:80] if answer.out else 'without a word'}.")
