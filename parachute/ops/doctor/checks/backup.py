"""Backups: there is one, it is recent, its emergency kit was tried, and a drill has restored it."""

from pathlib import Path

from parachute.ops.backup.access import Access
from parachute.ops.backup.kit.protection import NOT_PROTECTED, TO_PROTECT
from parachute.ops.backup.kit.protection import concerns as concerns_of
from parachute.ops.backup.state import FAILED, State
from parachute.ops.doctor.computer import Computer
from parachute.ops.doctor.models import Group, Level, Result, check, ok, problem, settings_of, warning
from parachute.ops.doctor.programs import is_there


@check("Backup", Group.DATA)
def examine(computer: Computer) -> Result:
    settings = settings_of(computer, "the repository")
    repository = settings.backup.repository
    if repository is None:
        return warning(
            "No backup is made of the vault.",
            "`parachute backup init /media/usb/parachute` chooses a place and makes the first backup.",
        )
    if not is_there(computer, "restic"):
        return problem("restic, which makes backups, is not installed.", "`sudo apt-get install restic`")
    state = State.read(computer.home.root)
    concerns = tuple(concerns_of(computer.home, settings))
    if concerns == (NOT_PROTECTED,):
        return Result(Level.WARNING, NOT_PROTECTED, TO_PROTECT, is_told=True)
    if concerns:
        failed = [entry for entry in state.operations.values() if entry["result"] == FAILED]
        next_ = failed[0].get("hint") if failed else None
        return (problem if failed else warning)(
            concerns[0],
            next_ or "`parachute backup status` shows more, `parachute backup create` makes one now.",
            details=concerns[1:],
        )
    if _is_beside(Path(repository), settings.vault):
        return warning(
            f"The backup in {repository} is on the same disk as the vault, and would be lost with it.",
            "Name a place on another disk or machine: `parachute backup init PLACE --replace`.",
        )
    return ok(f"Backups are made to {Access(repository, Path()).shown}.")


def _is_beside(repository: Path, vault: Path) -> bool:
    try:
        return repository.is_absolute() and repository.stat().st_dev == vault.stat().st_dev
    except OSError:
        return False
