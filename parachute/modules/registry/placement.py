"""Putting a staged module where it belongs, so that a crash at any point can be finished or taken back."""

import os
from pathlib import Path

from parachute.base.errors import Conflict, InvalidInput, ParachuteError
from parachute.base.files import private_folder, remove_tree, sync_names, sync_tree
from parachute.modules.registry.models import InstalledModule, Places
from parachute.modules.registry.staging import INCOMING, PREVIOUS, Journal, opened_sources, token_of
from parachute.modules.trees.hashing import copy_verified, tree_hash

REPLACED = ".replaced-"
"""Beginning of the name of a source that gave way to a declared one."""


def place_source(places: Places, staging: Path, files: Path, module: InstalledModule) -> None:
    """Put a copy of `files` into the vault, in the place of what may be there."""
    assert module.approved_at is not None
    folder = sources_folder(places)
    token = token_of(staging)
    target = places.source(module.name)
    incoming, previous = folder / f"{INCOMING}{token}", folder / f"{PREVIOUS}{token}"
    # Relative to open folders, as everything is that agents may write at the same time. The user may edit it, whatever the source said.
    copy_verified(files, incoming, for_the_user=True)
    inode = incoming.stat().st_ino
    names = (str(target), str(incoming), str(previous))
    Journal(module.name, module.approved_at.isoformat(), *names, inode).write(staging)
    sync_tree(incoming)
    with opened_sources(folder) as sources:
        if sources.status(target.name) is not None:
            sources.rename(target.name, sources, previous.name)
        sources.rename(incoming.name, sources, target.name)
        sources.sync()


def place_copy(places: Places, version: Path, module: InstalledModule) -> None:
    """Put the verified copy into the state directory, in the place of a damaged one."""
    target = places.copy(module.name, module.digest)
    private_folder(target.parent)
    sync_tree(version)
    remove_tree(target)
    version.rename(target)
    sync_names(target.parent)


def set_aside(places: Places, module: InstalledModule, previous: InstalledModule | None) -> Path | None:
    """Keep what somebody changed in a source that is about to be replaced; returns where, None if nothing was changed.

    What was kept before makes room for it.
    """
    folder = sources_folder(places) / module.name
    known = {module.hash, previous.hash if previous else module.hash}
    if not os.path.lexists(folder) or any(holds(folder, digest) for digest in known):
        return None
    kept = folder.with_name(f"{REPLACED}{module.name}")
    with opened_sources(places.sources) as sources:
        sources.remove_tree(kept.name)
        sources.rename(folder.name, sources, kept.name)
    return kept


def holds(folder: Path, digest: str) -> bool:
    """True if a folder has exactly this content."""
    try:
        return not folder.is_symlink() and folder.is_dir() and tree_hash(folder) == digest
    except (ParachuteError, OSError):
        return False


def sources_folder(places: Places) -> Path:
    """The folder of sources in the vault, made if need be; error: InvalidInput if it is a link to elsewhere."""
    folder = places.sources
    if folder.is_symlink() or (folder.exists() and not folder.is_dir()):
        raise InvalidInput(f"{folder} is not a folder.", "Remove it; a link is not followed here.", key="not_a_folder")
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def check_place_is_free(places: Places, name: str) -> None:
    """Error: Conflict if a folder of the vault that nobody installed has the name."""
    target = places.source(name)
    if os.path.lexists(target):
        raise Conflict(
            f"{target} exists already and is not installed on this computer.",
            f"To install what is in it: parachute modules install {target}",
            key="already_there",
        )


def check_lies_outside(places: Places, folder: Path) -> None:
    """Error: InvalidInput for a folder that agents can write: what runs in place is checked against nothing."""
    for protected, what in ((places.vault, "the vault"), (places.home.root, "the state directory")):
        outside = protected.resolve()
        if folder.is_relative_to(outside) or outside.is_relative_to(folder):
            raise InvalidInput(
                f"--dev: {folder} must lie outside of {what} {outside}.",
                "Move it, or leave --dev out.",
                key="dev_in_vault",
            )
