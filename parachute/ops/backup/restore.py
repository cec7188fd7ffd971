"""Restore: into an empty folder next to the present one, verified, and only then put in its place."""

import contextlib
import os
import shutil
from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from parachute.base import swap
from parachute.base.errors import Conflict
from parachute.base.files import private_folder, remove_tree
from parachute.base.swap import Swap
from parachute.modules.registry import dependencies
from parachute.ops.backup.backups import Backup
from parachute.ops.backup.models import TRUST, VAULT, BackupFailed, Part, Progress
from parachute.ops.backup.places import FOLDER, Places
from parachute.ops.backup.rebuild import Rebuilt, damaged, rebuilt
from parachute.ops.backup.repository import Repository

Guard = Callable[[], AbstractContextManager[None]]
"""Keeps the computer from being started while the block runs; raises Conflict if it runs."""


@dataclass(slots=True)
class Restored:
    """The result by part: its folder now, and the new name of the folder of before (None if there was none)."""

    id: str
    places: dict[str, str] = field(default_factory=dict)
    kept: dict[str, str | None] = field(default_factory=dict)
    recovered: str | None = None


def restore(
    places: Places, repository: Repository, backup: Backup, guard: Guard, progress: Progress, *, trust: bool
) -> Restored:
    """Put a backup in the place of the vault, and with `trust` of the state directory; nothing changes before all is verified."""
    with repository.alone():
        with guard():  # before anything is fetched
            result = Restored(backup.id, recovered=recover(places))
        parts = places.parts() if trust else places.parts()[:1]
        for part in parts:
            swap.check_can_move(part.root)
            part.root.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with ExitStack() as stack:
            done: list[tuple[Part, Rebuilt]] = []
            for part in parts:
                progress.step(f"Restoring {part.name}")
                found = stack.enter_context(rebuilt(repository, backup, part.name, _scratch(part.root)))
                hint = (
                    "Nothing was changed. Older backups may be whole (`parachute backup list`); "
                    f"`parachute backup restore {backup.id} --to FOLDER` brings what can be read."
                )
                _check(found, part.name, hint)
                done.append((part, found))
            if trust:
                _prepare_trust(places, repository.access.password_file, done[-1][1].root)
            progress.step("Putting it in place")
            stack.enter_context(guard())
            for part, found in done:
                _swap(places, part, found, result)
    return result


def restore_into(repository: Repository, backup: Backup, target: Path, progress: Progress, *, trust: bool) -> Restored:
    """Bring a backup into an empty folder: `vault` in it and with `trust` `trust`; what is not as it was is there all the same."""
    check_empty(target)
    with repository.alone():
        target.mkdir(mode=0o700, parents=True, exist_ok=True)
        result = Restored(backup.id)
        brought = []
        for name in (VAULT, TRUST) if trust else (VAULT,):
            progress.step(f"Restoring {name}")
            with rebuilt(repository, backup, name, target / ".restoring") as found:
                found.root.rename(target / name)
                result.places[name], result.kept[name] = str(target / name), None
                brought.append((found, name))
    for found, name in brought:
        _check(found, name, f"What could be read is in {target / name}.")
    return result


def recover(places: Places) -> str | None:
    """Finish or drop what a restore has left that was cut off; what was done, in a sentence. Error: Conflict if it cannot be told."""
    said = swap.recover(places.home)
    for part in places.parts():
        remove_tree(_scratch(part.root))
    return said


def check_empty(target: Path) -> None:
    """Error: Conflict unless a folder is empty, or not there."""
    if os.path.lexists(target) and (not target.is_dir() or any(target.iterdir())):
        said = f"{target} is not empty, and a backup is restored only into an empty place."
        raise Conflict(said, "Name another folder.")


def _check(found: Rebuilt, part: str, hint: str) -> None:
    if found.problems:
        raise damaged(f"What came back of {part} is not what was backed up", found.problems, hint)


def _scratch(root: Path) -> Path:
    """Return a folder on the same file system, so that it can be renamed."""
    return root.with_name(f".{root.name.lstrip('.')}.restoring")


def _swap(places: Places, part: Part, found: Rebuilt, result: Restored) -> None:
    # A power cut after the swap must not leave empty files: restic waits for no disk.
    os.sync()
    planned = Swap.planned(part.root, found.root, datetime.now(UTC))
    try:
        kept = swap.perform(places.home, planned)
    except OSError as error:
        done = "".join(f" {place} is restored already." for place in result.places.values())
        lost = f"It could not be brought back, either, and is {planned.kept} now."
        hint = "Nothing of it was changed." if os.path.lexists(part.root) else lost
        raise BackupFailed(f"{part.root} cannot be replaced: {error.strerror}.{done}", hint) from error
    result.places[part.name], result.kept[part.name] = str(part.root), str(kept) if kept else None


def _prepare_trust(places: Places, password: Path, root: Path) -> None:
    """Take over what belongs to this moment, and have the packages of modules unpacked anew."""
    folder = private_folder(root / FOLDER)
    for path in places.folder.iterdir():
        if path.is_file() and not path.is_symlink() and not path.name.startswith("."):
            shutil.copy2(path, folder / path.name)
    with contextlib.suppress(FileNotFoundError):
        # Who has stopped all agents has not let them go by restoring.
        shutil.copy2(places.home / "panic.json", root / "panic.json")
    if password.resolve().is_relative_to(places.home.resolve()):
        # The repository may have got another one since.
        target = root / password.resolve().relative_to(places.home.resolve())
        target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        target.unlink(missing_ok=True)
        shutil.copy2(password, target)
    dependencies.unpack_again(root / "modules")
