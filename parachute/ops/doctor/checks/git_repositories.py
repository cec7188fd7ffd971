"""git obeys no folder that only looks like a repository, as an agent could make one in a project."""

import shutil
import subprocess

from parachute.ops.doctor.computer import Computer
from parachute.ops.doctor.models import Group, NotApplicable, Result, check, ok, warning

_SECONDS = 10


@check("Repositories", Group.AGENTS)
def examine(computer: Computer) -> Result:
    if not shutil.which("git"):
        raise NotApplicable("git is not installed.")
    asked = ["git", "config", "--global", "--get", "safe.bareRepository"]
    environment = {**computer.environment, "HOME": str(computer.user_home)}
    said = subprocess.run(
        asked, env=environment, capture_output=True, text=True, timeout=_SECONDS, check=False
    ).stdout.strip()
    if said == "explicit":
        return ok("git obeys only repositories with a work tree, or those that are named.")
    return warning(
        "git obeys any folder that looks like a repository, also one that an agent has made in a project.",
        "git config --global safe.bareRepository explicit",
    )
