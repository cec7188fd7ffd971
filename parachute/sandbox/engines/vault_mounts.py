"""The folders of the vault as agents see them."""

from collections.abc import Sequence
from pathlib import Path

from parachute.config.vault.service import Vault
from parachute.sandbox.engines.models import Mount
from parachute.sandbox.layout import VAULT


def vault_mounts(vault: Vault, trust: Path, only: Sequence[str] | None = None) -> list[Mount]:
    """The visible folders at the top of the vault for reading, but for one that holds the state directory `trust`.

    With `only` these folders and no others, each as far as it lies in one of those. Waits for the disk.
    """
    root, state = vault.root.resolve(), trust.resolve()
    tops = [folder.name for folder in vault.top_level_folders() if not state.is_relative_to(root / folder.name)]
    shown = tops if only is None else [path for path in only if path.split("/")[0] in tops]
    return [Mount(str(root / path), f"{VAULT}/{path}") for path in shown]
