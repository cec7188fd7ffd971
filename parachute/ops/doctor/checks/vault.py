"""The vault: it is there and belongs to this user."""

from parachute.config.vault.place import VaultPlace
from parachute.ops.doctor.computer import Computer
from parachute.ops.doctor.models import Group, Result, check, ok, problem, settings_of


@check("Vault", Group.DATA)
def examine(computer: Computer) -> Result:
    settings = settings_of(computer, "the vault")
    vault = settings.vault
    place = VaultPlace(computer.home.root, vault)
    if place.is_missing():
        return problem(place.missing().message, place.missing().hint)
    if not vault.exists():
        return ok(f"The vault {vault} is made at the first start.")
    if not vault.is_dir():
        return problem(f"The vault {vault} is not a folder.", "`parachute vault set PATH` names another one.")
    owner = vault.stat().st_uid
    if owner != computer.uid:
        return problem(
            f"The vault {vault} belongs to the user with number {owner}.", f"sudo chown -R {computer.user} {vault}"
        )
    return ok(f"The vault is {vault}.")
