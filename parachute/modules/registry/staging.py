"""One installation at a time, in a folder of its own, and what is left of one that was killed."""

import fcntl
import json
import logging
import os
import secrets
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from msgspec import Struct, to_builtins

from parachute.base.errors import Conflict, InvalidInput, ParachuteError
from parachute.base.files import atomic_write, private_folder, read_regular, remove_tree
from parachute.base.folders import Folder
from parachute.modules.registry.models import InstalledModule, Places
from parachute.modules.registry.registry import Registry
from parachute.modules.trees.models import Progress

INCOMING, PREVIOUS = ".incoming-", ".previous-"
"""Beginnings of names in the folder of sources, while one folder takes the place of another."""

_STAGING = ".staging-"
_JOURNAL = "journal.json"
_JOURNAL_BYTES = 65536
_SPECIFICATION_BYTES = 1024 * 1024
_PAUSE = 0.1

log = logging.getLogger(__name__)


class Journal(Struct, frozen=True):
    """The journal of an installation's changes in the vault; times in ISO 8601.

    `approved_at` is what the registry says of `name` once everything is done. `inode` is that of the folder that comes.
    """

    name: str
    approved_at: str
    target: str
    incoming: str
    previous: str
    inode: int

    def write(self, staging: Path) -> None:
        """Keep it in the folder of the installation."""
        atomic_write(staging / _JOURNAL, json.dumps(to_builtins(self)))

    @classmethod
    def read(cls, staging: Path) -> "Journal | None":
        """The journal of an installation, None if it had not begun to change anything."""
        try:
            document = json.loads(read_regular(staging / _JOURNAL, _JOURNAL_BYTES))
        except FileNotFoundError:
            return None
        return cls(**document)


@contextmanager
def one_at_a_time(places: Places, registry: Registry, seconds: float, progress: Progress) -> Iterator[None]:
    """Hold the right to change installed modules, and clean up after one that was killed.

    Waits at most `seconds` for another program. Errors: Conflict, and RegistryUnreadable, with which nothing is removed.
    """
    with Folder.open(places.copies) as folder:
        descriptor = folder.descriptor(".lock", os.O_RDWR | os.O_CREAT)
    try:
        _wait(descriptor, seconds, progress)
        clean(places, registry.load())
        yield
    finally:
        os.close(descriptor)


def _wait(descriptor: int, seconds: float, progress: Progress) -> None:
    deadline = time.monotonic() + seconds
    said = False
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() >= deadline:
                raise Conflict(
                    "Another program is installing, approving or removing a module.",
                    "Try again when it has ended; it may wait for an answer in another terminal.",
                    key="modules_busy",
                ) from None
            if not said:
                progress.step("Waiting for another installation to end...")
                said = True
            time.sleep(_PAUSE)
        else:
            return


@contextmanager
def staging_folder(places: Places) -> Iterator[Path]:
    """An empty folder that goes with the block; a killed one is removed by the next `one_at_a_time`."""
    with _used_up(places, private_folder(places.copies / f"{_STAGING}{secrets.token_hex(6)}")) as folder:
        yield folder


@contextmanager
def kept_folder(places: Places, kept: Path) -> Iterator[Path]:
    """The same with what an earlier block has left in `kept`; hold the lock. Error: OSError if that is gone."""
    folder = places.copies / f"{_STAGING}{secrets.token_hex(6)}"
    kept.rename(folder)
    with _used_up(places, folder):
        yield folder


@contextmanager
def _used_up(places: Places, folder: Path) -> Iterator[Path]:
    try:
        yield folder
    finally:
        if _undo(places, folder):
            # Without a journal it was not yet complete.
            with _logged(folder):
                remove_tree(places.sources / f"{INCOMING}{token_of(folder)}", places.sources.parent)
            remove_tree(folder)
            with suppress(ParachuteError, OSError):
                _prune(places, Registry(places.registry).load())


def token_of(staging: Path) -> str:
    """The token with which all names of one installation end."""
    return staging.name.removeprefix(_STAGING)


def clean(places: Places, registry: dict[str, InstalledModule]) -> None:
    """Undo what was begun and not finished, and remove copies that nothing uses; hold the lock."""
    for folder in places.copies.glob(f"{_STAGING}*"):
        with _logged(folder):
            _undo(places, folder)
            remove_tree(folder)
    # Whoever writes the vault may have put these there, and what is behind a link is not ours to remove.
    with suppress(OSError), opened_sources(places.sources) as sources:
        for entry in list(sources.entries()):
            if entry.name.startswith(INCOMING):
                with _logged(places.sources / entry.name):
                    sources.remove_tree(entry.name)
    _prune(places, registry)


@contextmanager
def _logged(folder: Path) -> Iterator[None]:
    """Log what cannot be removed and go on; the next cleaning tries again."""
    try:
        yield
    except OSError as error:
        log.warning("What an installation left in %s cannot be removed: %s", folder, error)


def _prune(places: Places, registry: dict[str, InstalledModule]) -> None:
    for folder in places.copies.iterdir():
        if not folder.is_dir() or folder.name.startswith("."):
            continue
        module = registry.get(folder.name)
        if module is None:
            remove_tree(folder)
            continue
        # A unit that runs still imports from the copy that it was started with.
        used = {module.digest, _running(places, folder.name)}
        if None not in used:
            for copy in folder.iterdir():
                if copy.name not in used:
                    remove_tree(copy)


def _running(places: Places, name: str) -> str | None:
    """The digest that the unit of a module was last given, "" if none; None if it cannot be read."""
    try:
        document: Any = json.loads(read_regular(places.specification(name), _SPECIFICATION_BYTES))
        return str(document["hash"]).removeprefix("sha256:")
    except FileNotFoundError:
        return ""
    except (OSError, ValueError, KeyError, TypeError, InvalidInput):
        return None


def _undo(places: Places, folder: Path) -> bool:
    """Finish an installation whose entry is in the registry, take any other one back; False if it cannot be decided which."""
    try:
        journal = Journal.read(folder)
        if journal is None:
            return True
        module = Registry(places.registry).load().get(journal.name)
    except (OSError, ValueError, TypeError, ParachuteError):
        return False
    is_done = bool(module and module.approved_at and module.approved_at.isoformat() == journal.approved_at)
    with suppress(FileNotFoundError), opened_sources(Path(journal.target).parent) as sources:
        _finish_or_undo(sources, journal, is_done)
    return True


def _finish_or_undo(sources: Folder, journal: Journal, is_done: bool) -> None:
    target, incoming, previous = (Path(path).name for path in (journal.target, journal.incoming, journal.previous))
    if is_done:
        sources.remove_tree(previous)
    else:
        if _inode(sources, target) == journal.inode:
            sources.remove_tree(target)
        if _inode(sources, previous) and not _inode(sources, target):
            sources.rename(previous, sources, target)
    sources.remove_tree(incoming)


def _inode(sources: Folder, name: str) -> int:
    status = sources.status(name)
    return status.st_ino if status else 0


@contextmanager
def opened_sources(path: Path) -> Iterator[Folder]:
    """The folder of sources in the vault; error: OSError where a link is in its place."""
    with Folder.open(path.parent) as vault, vault.folder(path.name) as sources:
        yield sources
