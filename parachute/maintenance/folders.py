"""Which folders of the vault the maintenance agent may write: those that hold data and no projects."""

import os
from dataclasses import dataclass
from pathlib import Path

from parachute.sandbox.models import Mount
from parachute.sandbox.protected import FOLDERS, PRESENT_ONLY, SERVERS
from parachute.sandbox.service import VAULT_INSIDE
from parachute.vault.service import Vault

_ENTRIES = 500_000
_GIT = ".git"
_RUN_LATER = frozenset({*FOLDERS, *PRESENT_ONLY, SERVERS, _GIT})


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
    left, waiting = _ENTRIES, [str(folder)]
    while waiting:
        place = waiting.pop()
        try:
            with os.scandir(place) as entries:
                for entry in entries:
                    left -= 1
                    is_folder = entry.is_dir(follow_symlinks=False)
                    if entry.name in _RUN_LATER and (
                        place != str(folder) or entry.is_symlink() or (entry.name in FOLDERS and not is_folder)
                    ):
                        return f"{os.path.relpath(entry.path, folder)} in it is obeyed by programs of yours"
                    if is_folder:
                        waiting.append(entry.path)
        except OSError as error:
            return f"it cannot be looked through ({error.strerror})"
        if left < 0:
            return f"it has more than {_ENTRIES:,} files, too many to look through"
    return None
