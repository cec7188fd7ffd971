"""The folders of the vault as agents see them."""

from pathlib import Path

from parachute.config.vault.service import Vault
from parachute.sandbox.engines.models import Mount
from parachute.sandbox.layout import VAULT


def vault_mounts(vault: Vault, trust: Path) -> list[Mount]:
    """The visible folders at the top of the vault for reading, but for one that holds the state directory `trust`.

    Waits for the disk.
    """
    root, state = vault.root.resolve(), trust.resolve()
    return [
        Mount(str(root / folder.name), f"{VAULT}/{folder.name}")
        for folder in vault.top_level_folders()
        if not state.is_relative_to(root / folder.name)
    ]
