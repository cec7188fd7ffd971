"""The vault: it is there and belongs to this user."""

from parachute.ops.doctor.computer import Computer
from parachute.ops.doctor.models import Group, Result, check, ok, problem, settings_of

_STATE = ".parachute"


@check("Vault", Group.DATA)
def examine(computer: Computer) -> Result:
    settings = settings_of(computer, "the vault")
    vault = settings.vault
    if not vault.exists():
        if not computer.home.trust_database.exists():
            return ok(f"The vault {vault} is made at the first start.")
        return problem(
            f"The vault {vault} is gone.",
            "Plug in or mount the disk that it is on, or name its new place: `parachute vault set PATH`. Started like this, the "
            "computer would begin an empty one.",
        )
    if not vault.is_dir():
        return problem(f"The vault {vault} is not a folder.", "`parachute vault set PATH` names another one.")
    owner = vault.stat().st_uid
    if owner != computer.uid:
        return problem(
            f"The vault {vault} belongs to the user with number {owner}.", f"sudo chown -R {computer.user} {vault}"
        )
    if computer.home.trust_database.exists() and not (vault / _STATE).is_dir():
        return problem(
            f"The vault {vault} has no conversations, though this computer was used before.",
            "It may be the empty place at which a disk was mounted: mount it, or `parachute vault set PATH`.",
        )
    return ok(f"The vault is {vault}.")
