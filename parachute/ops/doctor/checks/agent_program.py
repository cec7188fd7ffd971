"""The program of agents starts: kernels with pages of 16 KB, as of a Pi 5, could refuse it."""

from importlib.util import find_spec
from pathlib import Path

from parachute.ops.doctor.computer import Computer
from parachute.ops.doctor.models import Group, Result, check, ok, problem
from parachute.ops.doctor.programs import ask

_AGAIN = "Install the computer again: the program comes with the package claude-agent-sdk."


def program() -> Path | None:
    """The program that the installed SDK brings, found without importing the SDK."""
    found = find_spec("claude_agent_sdk")
    folders = found.submodule_search_locations if found else None
    return Path(folders[0]) / "_bundled" / "claude" if folders else None


@check("Program of agents", Group.AGENTS)
def examine(computer: Computer) -> Result:
    path = program()
    if path is None or not path.is_file():
        return problem("The program of agents is not installed.", _AGAIN)
    answer = ask(computer, str(path), "--version")
    if answer.code != 0:
        said = (answer.err or answer.out).splitlines()[-1:] or ["it did not say why"]
        return problem(f"The program of agents does not start: {said[0][:200]} (status {answer.code}).", _AGAIN)
    return ok(f"The program of agents starts: {answer.out.splitlines()[0][:80] if answer.out else 'without a word'}.")
