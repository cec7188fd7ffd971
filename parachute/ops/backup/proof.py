"""Verification and drill: a backup is read from the repository, or restored into a scratch folder, opened and removed again."""

from dataclasses import dataclass
from pathlib import Path

from parachute.base.errors import InvalidInput
from parachute.base.files import remove_tree
from parachute.ops.backup import backups, old_layout, state
from parachute.ops.backup.backups import Backup
from parachute.ops.backup.kit import models
from parachute.ops.backup.kit.opening import opened_alone
from parachute.ops.backup.kit.service import kit_of
from parachute.ops.backup.models import PARTS, Progress
from parachute.ops.backup.places import Places
from parachute.ops.backup.rebuild import damaged, rebuilt
from parachute.ops.backup.repository import Repository
from parachute.ops.recovery.inspection import problem


@dataclass(slots=True)
class Proved:
    """The result of a verification: files and bytes of both parts, and how many databases were opened and are sound."""

    id: str
    files: int = 0
    bytes: int = 0
    databases: int = 0


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
                if node.kind == "file" and not old_layout.is_manifest(snapshot, node):
                    result.files += 1
                    result.bytes += node.size
        state.record(places.home, state.VERIFY, state.OK, None, backup.id, quick=quick)
    return result


def drill(places: Places, repository: Repository, progress: Progress, *, place: Path | None = None) -> Proved:
    """Show that the newest backup can be restored with the emergency kit alone, in a folder of `place`.

    How it ended is recorded; error: Damaged.
    """
    about: dict[str, str] = {}
    # Under a name of its own: what a killed drill has left is removed, and nothing else.
    folder = (place.absolute() if place else places.folder) / "parachute-drill"
    with repository.alone(), state.recorded(places.home, state.DRILL, about):
        try:
            remove_tree(folder)
            folder.mkdir(mode=0o700, parents=True)
            if folder.stat().st_mode & 0o077:
                disk = f"{folder.parent} is on a disk that knows no rights"
                hint = "Name a folder on another disk."
                raise InvalidInput(f"{disk}: others could read the keys that are restored there.", hint)
            progress.step("Opening the backups with the emergency kit")
            # By way of its text: what is not on it must not be missed first on the day.
            kit = models.parse(kit_of(repository).text)
            with opened_alone(kit, places, folder) as opened:
                last = state.State.read(places.home).last_made
                found = backups.chosen(backups.grouped(opened.snapshots()), "latest", places.installation, last)
                about["backup"] = found.id
                result = Proved(found.id)
                for part in PARTS:
                    _restored(opened, found, part, folder / part, result, progress)
        finally:
            remove_tree(folder)
        state.record(places.home, state.DRILL, state.OK, None, found.id, files=result.files, bytes=result.bytes)
    return result


def _restored(
    repository: Repository, found: Backup, part: str, place: Path, result: Proved, progress: Progress
) -> None:
    """Restore a part, compare every file, and open its databases; it is counted into `result`."""
    progress.step(f"Restoring {part}")
    with rebuilt(repository, found, part, place, progress) as back:
        progress.step(f"Opening the databases of {part}")
        broken = [f"{path}: {said}" for path in back.databases if (said := problem(back.root / path))]
        if problems := back.problems or broken:
            said = f"The backup {found.id} does not come back as it was ({part})"
            hint = "Make a new backup, and look at the disk of the repository: `parachute backup verify`."
            raise damaged(said, problems, hint)
        result.files += back.files
        result.bytes += back.bytes
        result.databases += len(back.databases)
