"""Folders in which plugins are fetched and looked at, and what is left of those whose program was killed."""

import fcntl
import logging
import os
import secrets
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from parachute.base.files import private_folder, remove_tree, sync_names, sync_tree
from parachute.base.folders import Folder
from parachute.base.opening import FOLDER
from parachute.capabilities.plugins.models import Installed, Places

_STAGING = ".staging-"

log = logging.getLogger(__name__)


@contextmanager
def staging_folder(places: Places) -> Iterator[Path]:
    """An empty folder that goes with the block; that of a program that was killed goes with the next `clean`."""
    folder = private_folder(private_folder(places.folder) / f"{_STAGING}{secrets.token_hex(6)}")
    with _held(folder) as is_ours:
        assert is_ours
        try:
            yield folder
        finally:
            remove_tree(folder)


def place(places: Places, staged: Path, target: Path) -> None:
    """Put what was staged where it belongs, in the place of what was damaged there; it is complete as soon as it is there."""
    sync_tree(staged)
    private_folder(target.parent, places.folder)
    remove_tree(target)
    staged.rename(target)
    sync_names(target.parent)


def clean(places: Places, entries: Mapping[str, Installed], kept: Mapping[str, str]) -> None:
    """Remove what no entry names, and what killed programs left; `kept` are the digests before of plugins in use."""
    if not places.folder.is_dir():
        return
    for folder in places.folder.iterdir():
        entry = entries.get(folder.name)
        with _logged(folder):
            if folder.name.startswith(_STAGING):
                with _held(folder) as is_left:
                    if is_left:
                        remove_tree(folder)
            elif entry is None:
                remove_tree(folder)
            else:
                for version in folder.iterdir():
                    if version.name not in (entry.digest, kept.get(folder.name)):
                        remove_tree(version)


@contextmanager
def _held(folder: Path) -> Iterator[bool]:
    """The lock of whoever works in a folder; False if somebody else has it."""
    with Folder.open(folder.parent) as above:
        descriptor = above.descriptor(folder.name, FOLDER)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
        else:
            yield True
    finally:
        os.close(descriptor)


@contextmanager
def _logged(folder: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        log.warning("What is left of a plugin in %s cannot be removed: %s", folder, error)
