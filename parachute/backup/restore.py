"""Restoring: into an empty place beside the present folder, compared with the manifest, and only then put in its place."""

import contextlib
import os
import shutil
from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from parachute.backup import compare, databases, swap
from parachute.backup.backups import Backup
from parachute.backup.manifest import Manifest
from parachute.backup.models import TRUST, VAULT, BackupFailed, Damaged, Part, Progress, trust_part, vault_part
from parachute.backup.places import FOLDER, Places
from parachute.backup.rebuild import Rebuilt, rebuilt, remove
from parachute.backup.repository import Repository
from parachute.errors import Conflict
from parachute.files import atomic_write, private_folder

_CARRIED = ("panic.json",)
_MARK = b"# interpreter: "

Guard = Callable[[], AbstractContextManager[None]]
"""Keeps the computer from being started while the block runs; raises Conflict if it runs."""


@dataclass(slots=True)
class Restored:
    """By part: where it is now, and where what was there before has gone (None if there was nothing)."""

    id: str
    places: dict[str, str] = field(default_factory=dict)
    kept: dict[str, str | None] = field(default_factory=dict)
    recovered: str | None = None


def restore(
    places: Places, repository: Repository, backup: Backup, guard: Guard, progress: Progress, *, trust: bool
) -> Restored:
    """Put a backup in the place of the vault, and with `trust` of the folder of trust; nothing changes before all is compared.

    Errors: Conflict if the computer runs, Damaged, BackupFailed, InvalidInput for a disk, Locked, those of `Repository`.
    """
    with places.alone(), places.alone("drill"):
        with guard():  # before anything is fetched
            result = Restored(backup.id, recovered=recover(places))
        repository.unlock_own()
        parts = [vault_part(places.vault), *([trust_part(places.home)] if trust else [])]
        for part in parts:
            swap.check_can_move(part.root)
            part.root.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with ExitStack() as stack:
            done: list[tuple[Part, Rebuilt]] = []
            for part in parts:
                progress.step(f"Restoring {part.name}")
                found = stack.enter_context(rebuilt(repository, part.name, backup.pairs[part.name], _beside(part.root)))
                _check(backup, part.name, found)
                done.append((part, found))
            if trust:
                _prepare_trust(places, repository.access.password_file, done[-1][1].root)
            progress.step("Putting it in place")
            stack.enter_context(guard())
            for part, found in done:
                _swap(places, part, found, result)
    return result


def restore_into(repository: Repository, backup: Backup, target: Path, progress: Progress, *, trust: bool) -> Restored:
    """Bring a backup into an empty folder: `vault` in it and with `trust` `trust`. Nothing else changes.

    What differs from the manifest is there all the same. Errors: Conflict if the folder is not empty, Damaged at the end,
    BackupFailed, those of `Repository`.
    """
    check_empty(target)
    repository.unlock_own()
    target.mkdir(mode=0o700, parents=True, exist_ok=True)
    result = Restored(backup.id)
    problem: Damaged | None = None
    for name in (VAULT, TRUST) if trust else (VAULT,):
        progress.step(f"Restoring {name}")
        with rebuilt(repository, name, backup.pairs[name], target / ".restoring") as found:
            found.root.rename(target / name)
            result.places[name], result.kept[name] = str(target / name), None
        try:
            _check(backup, name, found, at=target / name)
        except Damaged as error:
            problem = problem or error
    if problem:
        raise problem
    return result


def recover(places: Places) -> str | None:
    """Finish or drop what a restore has left that was cut off, and remove its folder; what was done, in a sentence.

    Error: Conflict if something is left that may be what was there before.
    """
    said = swap.recover(places.home)
    for part in places.parts():
        swap.check_free(part.root)
        remove(_beside(part.root))
    return said


def check_empty(target: Path) -> None:
    """Error: Conflict unless a folder is empty, or not there."""
    if os.path.lexists(target) and (not target.is_dir() or any(target.iterdir())):
        raise Conflict(
            f"{target} is not empty, and a backup is restored only into an empty place.", "Name another folder."
        )


def broken_databases(manifest: Manifest, part: Part, root: Path) -> list[str]:
    """What SQLite finds wrong with the databases of a restored part, each with its path."""
    found = []
    for path, entry in manifest.entries.items():
        is_copy = entry.kind == "file" and part.is_database(path) and entry.modified is None
        if is_copy and (problem := databases.problem(root / path)):
            found.append(f"{path}: {problem}")
    return found


def _check(backup: Backup, part: str, found: Rebuilt, at: Path | None = None) -> None:
    if found.differences:
        raise Damaged(
            f"What came back of {part} is not what was backed up: {compare.sentence(found.differences)}.",
            f"What could be read is in {at}."
            if at
            else "Nothing was changed. Older backups may be whole (`parachute backup list`); "
            f"`parachute backup restore {backup.id} --to FOLDER` brings what can be read.",
            differences=[str(each) for each in found.differences[:100]],
        )


def _beside(root: Path) -> Path:
    """On the same file system, so that it can be renamed."""
    return root.with_name(f".{root.name.lstrip('.')}.restoring")


def _swap(places: Places, part: Part, found: Rebuilt, result: Restored) -> None:
    # A power cut after the swap must not leave empty files: restic waits for no disk.
    os.sync()
    planned = swap.Swap.planned(part.root, found.root, datetime.now(UTC))
    try:
        kept = swap.perform(places.home, planned)
    except OSError as error:
        done = "".join(f" {place} is restored already." for place in result.places.values())
        if planned.is_done:
            # They have changed places already: what is called new now is the folder of before.
            raise BackupFailed(
                f"{part.root} is restored, but what was there before could not be renamed: {error.strerror}.{done}",
                f"It is {planned.new}; the next `parachute backup restore` renames it.",
            ) from error
        if planned.has_moved:
            raise BackupFailed(
                f"{part.root} was moved to {planned.kept}, and the restored folder could not be put there: {error.strerror}.{done}",
                f"It is {planned.new}; the next `parachute backup restore` puts it in place.",
            ) from error
        raise BackupFailed(
            f"{part.root} cannot be replaced: {error.strerror}.{done}", "Nothing of it was changed."
        ) from error
    result.places[part.name], result.kept[part.name] = str(part.root), str(kept) if kept else None


def _prepare_trust(places: Places, password: Path, root: Path) -> None:
    """Take over what belongs to this moment, and have the packages of modules unpacked anew."""
    folder = private_folder(root / FOLDER)
    for path in places.folder.iterdir():
        if path.is_file() and not path.is_symlink():
            shutil.copy2(path, folder / path.name)
    for name in _CARRIED:
        # Who has stopped all agents has not let them go by restoring.
        with contextlib.suppress(FileNotFoundError):
            shutil.copy2(places.home / name, root / name)
    if password.resolve().is_relative_to(places.home.resolve()):
        # The repository may have got another one since.
        target = root / password.resolve().relative_to(places.home.resolve())
        target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        target.unlink(missing_ok=True)
        shutil.copy2(password, target)
    for lock in root.glob("modules/*/*/lock.txt"):
        first, _, rest = lock.read_bytes().partition(b"\n")
        if first.startswith(_MARK):
            # No interpreter is called so: at the next start the module is made ready from its kept wheels.
            atomic_write(lock, b"%bnone, restored from a backup\n%b" % (_MARK, rest), 0o600)
