"""Restore: into an empty folder next to the present one, verified, and only then put in its place."""

import os
from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from msgspec import Struct, field

from parachute.base import swap, swap_note
from parachute.base.clock import as_text
from parachute.base.errors import Conflict
from parachute.base.files import remove_tree
from parachute.base.swap import Plan, Swap
from parachute.ops.backup import present
from parachute.ops.backup.backups import Backup
from parachute.ops.backup.models import TRUST, VAULT, BackupFailed, Part, Progress
from parachute.ops.backup.places import Places
from parachute.ops.backup.present import Browser
from parachute.ops.backup.rebuild import Rebuilt, damaged, rebuilt
from parachute.ops.backup.repository import Repository

Guard = Callable[[], AbstractContextManager[None]]
"""Keeps the computer from being started while the block runs; raises Conflict if it runs."""


class Restored(Struct):
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
            recovered = recover(places)
        with ExitStack() as stack:
            done = _fetched(stack, places, repository, backup, progress, trust=trust)
            progress.step("Putting it in place")
            stack.enter_context(guard())
            plan = _plan(places, [(part, found.root) for part, found in done], _about(backup, trust=trust))
            # A power cut after the swap must not leave empty files: restic waits for no disk.
            os.sync()
            try:
                swap.perform(places.home, plan)
            except OSError as error:
                lost = [each for each in plan.swaps if not os.path.lexists(each.current)]
                hint = " ".join(f"{each.current} could not be brought back, and is {each.kept} now." for each in lost)
                said = f"{plan.swaps[0].current} cannot be replaced: {error.strerror}."
                raise BackupFailed(said, hint or "Nothing was changed.") from error
    kept = {part.name: each for (part, _), each in zip(done, plan.swaps, strict=True)}
    return Restored(
        backup.id,
        {name: each.current for name, each in kept.items()},
        {name: each.kept if os.path.lexists(each.kept) else None for name, each in kept.items()},
        recovered,
    )


def prepare(
    places: Places,
    repository: Repository,
    backup: Backup,
    progress: Progress,
    *,
    trust: bool,
    browser: Browser | None,
    about: dict[str, Any],
) -> None:
    """Fetch and verify a backup while the computer runs, and order that its next start puts it in place.

    `browser` stays signed in. Until it is ordered nothing has changed. Errors: as for `restore`.
    """
    with repository.alone():
        if swap.is_ordered(places.home):
            raise Conflict("A restore waits for a restart already.", "`parachute restart` carries it out.", key="busy")
        forget(places)
        try:
            with ExitStack() as stack:
                done = _fetched(stack, places, repository, backup, progress, trust=trust, browser=browser)
                for part, found in done:
                    found.root.rename(_prepared(part.root))
            progress.step("Writing it to the disk")
            os.sync()
            ready = [(part, _prepared(part.root)) for part, _ in done]
            swap.order(places.home, _plan(places, ready, {**_about(backup, trust=trust), **about}))
        except BaseException as error:
            if not swap.is_ordered(places.home):
                forget(places)
            if isinstance(error, OSError):
                said = f"The backup cannot be made ready: {error.strerror or error}."
                raise BackupFailed(said, "Nothing was changed. Check that the disk has room.") from error
            raise


def forget(places: Places) -> None:
    """Remove what was fetched and never ordered. Call it where no other command is at work. Error: OSError."""
    if not swap.is_ordered(places.home):
        for part in places.parts():
            remove_tree(_scratch(part.root))
            remove_tree(_prepared(part.root))


def restore_into(repository: Repository, backup: Backup, target: Path, progress: Progress, *, trust: bool) -> Restored:
    """Bring a backup into an empty folder: `vault` in it and with `trust` `trust`; what is not as it was is there all the same."""
    check_empty(target)
    with repository.alone():
        target.mkdir(mode=0o700, parents=True, exist_ok=True)
        result = Restored(backup.id)
        brought = []
        for name in (VAULT, TRUST) if trust else (VAULT,):
            progress.step(f"Restoring {name}")
            with rebuilt(repository, backup, name, target / ".restoring", progress) as found:
                found.root.rename(target / name)
                result.places[name], result.kept[name] = str(target / name), None
                brought.append((found, name))
    for found, name in brought:
        _check(found, name, f"What could be read is in {target / name}.")
    return result


def has_left_something(places: Places) -> bool:
    """Return whether there is something for `forget` to remove."""
    return any(os.path.lexists(name(part.root)) for part in places.parts() for name in (_scratch, _prepared))


def recover(places: Places) -> str | None:
    """Finish what a restore has left that was cut off, and remove what it had fetched; what was done, in a sentence.

    Errors: Conflict if it cannot be told, OSError.
    """
    said = swap.recover(places.home)
    forget(places)
    return said


def check_empty(target: Path) -> None:
    """Error: Conflict unless a folder is empty, or not there."""
    if os.path.lexists(target) and (not target.is_dir() or any(target.iterdir())):
        said = f"{target} is not empty, and a backup is restored only into an empty place."
        raise Conflict(said, "Name another folder.", key="not_empty")


def _check(found: Rebuilt, part: str, hint: str) -> None:
    if found.problems:
        raise damaged(f"What came back of {part} is not what was backed up", found.problems, hint)


def _scratch(root: Path) -> Path:
    """Return a folder on the same file system, so that it can be renamed."""
    return root.with_name(f".{root.name.lstrip('.')}.restoring")


def _prepared(root: Path) -> Path:
    """Return the name of a part that waits for being put in place."""
    return root.with_name(f".{root.name.lstrip('.')}.restored")


def _fetched(
    stack: ExitStack,
    places: Places,
    repository: Repository,
    backup: Backup,
    progress: Progress,
    *,
    trust: bool,
    browser: Browser | None = None,
) -> list[tuple[Part, Rebuilt]]:
    """The parts beside those that are there, every file of them verified; they are removed with the stack."""
    parts = places.parts() if trust else places.parts()[:1]
    for part in parts:
        swap.check_can_move(part.root)
        part.root.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    done = []
    for part in parts:
        progress.step(f"Restoring {part.name}")
        found = stack.enter_context(rebuilt(repository, backup, part.name, _scratch(part.root), progress))
        hint = (
            "Nothing was changed. Older backups may be undamaged (`parachute backup list`); "
            f"`parachute backup restore {backup.id} --to FOLDER` brings what can be read."
        )
        _check(found, part.name, hint)
        done.append((part, found))
    if trust:
        present.take_over(places, repository.access.password_file, done[-1][1].root, browser)
    return done


def _plan(places: Places, ready: list[tuple[Part, Path]], about: dict[str, Any]) -> Plan:
    moment = datetime.now(UTC)
    swaps = tuple(Swap.planned(part.root, root, moment) for part, root in ready)
    return Plan(swaps, ("panic.json",), str(swap_note.path_of(places.home)), about)


def _about(backup: Backup, *, trust: bool) -> dict[str, Any]:
    made = {"backup": backup.id, "made_at": as_text(backup.made_at), "computer": backup.computer}
    return {"kind": swap_note.RESTORE, **made, "trust": trust}
