"""Which folders of the vault the maintenance agent may write: those that hold data and no projects."""

import os
from dataclasses import dataclass
from pathlib import Path

from parachute.errors import InvalidInput
from parachute.sandbox.models import Mount
from parachute.sandbox.run_later import FILES, FOLDERS, look_below, present_only
from parachute.sandbox.service import VAULT_INSIDE
from parachute.vault.service import Vault

_GIT = ".git"


@dataclass(frozen=True, slots=True)
class DataFolders:
    """What is mounted, and a sentence for each folder that can only be read."""

    mounts: tuple[Mount, ...]
    read_only: tuple[str, ...]


def data_folders(vault: Vault, trust: Path) -> DataFolders:
    """The folders at the top of the vault whose names do not begin with a dot, but for one that holds `trust`; waits for the disk.

    In a writable folder what runs later outside is protected at its top only, so one that has it further down is read-only.
    """
    root = vault.root.resolve()
    mounts, sentences = [], []
    for found in vault.top_level_folders():
        folder = root / found.name
        if trust.is_relative_to(folder):
            continue
        reason = _reason(folder)
        mounts.append(Mount(str(folder), f"{VAULT_INSIDE}/{folder.name}", writable=reason is None))
        if reason:
            sentences.append(f"{folder.name} can only be read: {reason}.")
    return DataFolders(tuple(mounts), tuple(sentences))


def _reason(folder: Path) -> str | None:
    try:
        found = look_below(folder)
        names = {entry.name: entry for entry in os.scandir(folder)}
    except InvalidInput as error:
        return error.message.rstrip(".")
    except OSError as error:
        return f"it cannot be looked through ({error.strerror})"
    if found:
        return f"{found[0][0]} in it is obeyed by programs of yours"
    for name in (*FOLDERS, *FILES, *present_only(names), _GIT):
        entry = names.get(name)
        if entry is not None and (entry.is_symlink() or (name in FOLDERS and not entry.is_dir())):
            return f"{name} in it is obeyed by programs of yours"
    return None
