"""The folders of the vault that the maintenance agent may write: those with data and without projects."""

from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from parachute.base.errors import InvalidInput
from parachute.base.folders import Folder
from parachute.base.steering.judging import present_only
from parachute.base.steering.names import FILES, FOLDERS, REPOSITORY
from parachute.config.vault.service import Vault
from parachute.sandbox.engines.models import Mount
from parachute.sandbox.engines.run_later import find_below
from parachute.sandbox.engines.vault_mounts import vault_mounts


class DataFolders(Struct, frozen=True):
    """The mounts, and a sentence for each folder that can only be read."""

    mounts: tuple[Mount, ...]
    read_only: tuple[str, ...]


def data_folders(vault: Vault, state: Path) -> DataFolders:
    """The folders at the top of the vault whose names do not begin with a dot, except one that holds `state`; waits for the disk.

    In a writable folder what runs later outside is protected at its top only, so one that has it further down is read-only.
    """
    mounts, sentences = [], []
    for mount in vault_mounts(vault, state):
        folder = Path(mount.source)
        reason = _reason(folder)
        mounts.append(replace(mount, writable=reason is None))
        if reason:
            sentences.append(f"{folder.name} can only be read: {reason}.")
    return DataFolders(tuple(mounts), tuple(sentences))


def _reason(folder: Path) -> str | None:
    try:
        found = find_below(folder)
        with Folder.open_unlinked(folder) as opened:
            is_folder = {entry.name: entry.is_dir(follow_symlinks=False) for entry in opened.entries()}
            links = {entry.name for entry in opened.entries() if entry.is_symlink()}
    except InvalidInput as error:
        return error.message.rstrip(".")
    except OSError as error:
        return f"it cannot be listed ({error.strerror})"
    if found:
        return f"{found[0][0]} in it is obeyed by programs of yours"
    for name in (*FOLDERS, *FILES, *present_only(is_folder), REPOSITORY):
        if name in links or (name in FOLDERS and not is_folder.get(name, True)):
            return f"{name} in it is obeyed by programs of yours"
    return None
