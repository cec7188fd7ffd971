"""Subordinate user ids for containers, and the programs that hand them out."""

import os
import shutil
from pathlib import Path

from parachute.ops.doctor.computer import Computer
from parachute.ops.doctor.models import Group, NotApplicable, Result, check, ok, problem, warning
from parachute.ops.doctor.podman import check_wanted

_ENOUGH = 65_536
_PROGRAMS = ("newuidmap", "newgidmap")
_FILES = ("/etc/subuid", "/etc/subgid")
_CAPABILITIES = "security.capability"
_PACKAGE = "`sudo apt-get install --reinstall uidmap` brings them back."


@check("User ids of containers", Group.AGENTS)
def examine(computer: Computer) -> Result:
    check_wanted(computer)
    if computer.uid == 0:
        raise NotApplicable("Containers of agents are never started by root.")
    add = f"`sudo usermod --add-subuids 100000-165535 --add-subgids 100000-165535 {computer.user}`, then `podman system migrate`."
    for name in _FILES:
        count = _count(computer.read(name) or "", computer)
        if count == 0:
            return problem(f"{name} gives {computer.user} no ids, so that Podman cannot start a container.", add)
        if count < _ENOUGH:
            return warning(f"{name} gives {computer.user} {count:,} ids; images of others need {_ENOUGH:,}.", add)
    for name in _PROGRAMS:
        found = shutil.which(name, path=computer.environment.get("PATH"))
        if found is None:
            return problem(f"The program {name} is not installed, so that Podman cannot start a container.", _PACKAGE)
        if not _raises(Path(found)):
            return problem(f"{found} has lost its right to hand out ids.", _PACKAGE)
    return ok(f"{computer.user} has ids for containers.")


def _count(text: str, computer: Computer) -> int:
    """The ids in lines such as `sam:100000:65536`, by name or number of the user."""
    count = 0
    for line in text.splitlines():
        owner, _, rest = line.strip().partition(":")
        number = rest.partition(":")[2]
        if owner in (computer.user, str(computer.uid)) and number.isdigit():
            count += int(number)
    return count


def _raises(program: Path) -> bool:
    real = program.resolve()
    if real.stat().st_mode & 0o4000:
        return True
    try:
        return _CAPABILITIES in os.listxattr(real)
    except (OSError, AttributeError):
        return False
