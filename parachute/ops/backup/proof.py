"""Verification and drill: a backup is read from the repository, or restored into a scratch folder, opened and removed again."""

from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

from msgspec import Struct

from parachute.base.errors import InvalidInput
from parachute.base.files import remove_tree
from parachute.ops.backup import backups, state
from parachute.ops.backup.backups import Backup
from parachute.ops.backup.kit import models
from parachute.ops.backup.kit.opening import opened_alone
from parachute.ops.backup.kit.service import kit_of
from parachute.ops.backup.models import PARTS, TRUST, VAULT, Progress
from parachute.ops.backup.places import DRILLED, Places
from parachute.ops.backup.rebuild import Rebuilt, damaged, rebuilt
from parachute.ops.backup.repository import Repository
from parachute.ops.recovery.inspection import problem

Start = Callable[[Path, Path], str | None]
"""Starts the computer from a restored state directory and vault; the reason why that is not possible on this machine. Error: Damaged."""


class Proved(Struct):
    """The result of a verification: files and bytes of both parts, and how many databases were opened and are sound.

    `started` is whether the computer has started from it, None where nobody tried, and `not_started` why it could not be tried.
    """

    id: str
    files: int = 0
    bytes: int = 0
    databases: int = 0
    started: bool | None = None
    not_started: str | None = None


def verify(
    places: Places, repository: Repository, backup: Backup, progress: Progress, *, quick: bool = False
) -> Proved:
    """Check the repository, and unless `quick` read every file of a backup. How it ended is recorded; error: Damaged."""
    with repository.alone(), state.recorded(places.home, state.VERIFY, {"backup": backup.id}):
        progress.step("Checking the repository")
        repository.check()
        result = Proved(backup.id)
        for snapshot in () if quick else backup.snapshots:
            progress.step("Reading the backup")
            repository.read(snapshot)
            for node in repository.nodes(snapshot):
                if node.kind == "file":
                    result.files += 1
                    result.bytes += node.size
        state.record(places.home, state.VERIFY, state.OK, None, backup.id, quick=quick)
    return result


def drill(
    places: Places, repository: Repository, progress: Progress, *, place: Path | None = None, start: Start | None = None
) -> Proved:
    """Show that the newest backup can be restored with the emergency kit alone, in a folder of `place`, and `start` from it.

    How it ended is recorded; error: Damaged.
    """
    about: dict[str, str] = {}
    # Under a name of its own: what a killed drill has left is removed, and nothing else.
    folder = place.absolute() / DRILLED if place else places.drilled
    with repository.alone(), state.recorded(places.home, state.DRILL, about):
        try:
            remove_tree(folder)
            folder.mkdir(mode=0o700, parents=True)
            if folder.stat().st_mode & 0o077:
                disk = f"{folder.parent} is on a disk that knows no rights"
                hint = "Name a folder on another disk."
                raise InvalidInput(
                    f"{disk}: others could read the keys that are restored there.", hint, key="disk_read_by_others"
                )
            progress.step("Opening the backups with the emergency kit")
            # By way of its text: what is not on it must not be missed first on the day.
            kit = models.parse(kit_of(repository).text)
            with opened_alone(kit, places, folder) as opened, ExitStack() as kept:
                last = state.State.read(places.home).last_made
                found = backups.chosen(backups.grouped(opened.snapshots()), "latest", places.installation, last)
                about["backup"] = found.id
                result = Proved(found.id)
                roots = {}
                for part in PARTS:
                    progress.step(f"Restoring {part}")
                    back = kept.enter_context(rebuilt(opened, found, part, folder / part, progress))
                    roots[part] = _compared(found, part, back, result, progress)
                if start is not None:
                    progress.step("Starting the computer from it")
                    result.not_started = start(roots[TRUST], roots[VAULT])
                    result.started = result.not_started is None
        finally:
            remove_tree(folder)
        facts = {"files": result.files, "bytes": result.bytes, "started": result.started}
        state.record(places.home, state.DRILL, state.OK, None, found.id, **facts, not_started=result.not_started)
    return result


def _compared(found: Backup, part: str, back: Rebuilt, result: Proved, progress: Progress) -> Path:
    """Compare every file of a part that came back, open its databases, and count it into `result`; where it lies. Error: Damaged."""
    progress.step(f"Opening the databases of {part}")
    broken = [f"{path}: {said}" for path in back.databases if (said := problem(back.root / path))]
    if problems := back.problems or broken:
        said = f"The backup {found.id} was not restored correctly ({part})"
        hint = "Make a new backup, and look at the disk of the repository: `parachute backup verify`."
        raise damaged(said, problems, hint)
    result.files += back.files
    result.bytes += back.bytes
    result.databases += len(back.databases)
    return back.root
