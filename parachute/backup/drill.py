"""A drill: the newest backup is restored into a place of its own, compared, its databases opened, and all of it removed."""

from dataclasses import dataclass
from pathlib import Path

from parachute.backup import backups, compare, state
from parachute.backup.models import Damaged, Progress
from parachute.backup.places import Places
from parachute.backup.rebuild import rebuilt, remove
from parachute.backup.repository import Repository
from parachute.backup.restore import broken_databases
from parachute.errors import InvalidInput, ParachuteError


@dataclass(slots=True)
class Drilled:
    """What a drill has brought back: files and bytes of both parts, and how many databases are sound."""

    id: str
    files: int = 0
    bytes: int = 0
    databases: int = 0


def drill(places: Places, repository: Repository, progress: Progress, *, place: Path | None = None) -> Drilled:
    """Show that the newest backup can be restored; how it ended is recorded. `place` is a folder on a disk with room.

    Errors: Damaged naming what differs, BackupFailed if there is no room, NotFound without a backup, those of `Repository`.
    """
    with places.alone("drill"):
        # Under a name of its own: what a killed drill has left is removed, and nothing else.
        folder = (place.absolute() if place else places.folder) / "parachute-drill"
        found = None
        try:
            remove(folder)
            folder.mkdir(mode=0o700, parents=True)
            if folder.stat().st_mode & 0o077:
                raise InvalidInput(
                    f"{folder.parent} is on a disk that knows no rights: others could read the keys that are restored there.",
                    "Name a folder on another disk.",
                )
            repository.unlock_own()
            last = state.State.read(places.home).last_made
            found = backups.chosen(backups.grouped(repository.snapshots()), "latest", places.owner, last)
            result = Drilled(found.id)
            for part in places.parts():
                progress.step(f"Restoring {part.name}")
                with rebuilt(repository, part.name, found.pairs[part.name], folder / part.name) as back:
                    problems = [str(each) for each in back.differences]
                    if not problems:
                        progress.step(f"Opening the databases of {part.name}")
                        problems = broken_databases(back.manifest, part, back.root)
                    if problems:
                        raise Damaged(
                            f"The backup {found.id} does not come back as it was ({part.name}): {_sentence(problems)}.",
                            "Make a new backup, and look at the disk of the repository: `parachute backup verify`.",
                            differences=problems[:100],
                        )
                    entries = back.manifest.entries.values()
                    result.files += sum(entry.kind == "file" for entry in entries)
                    result.databases += sum(entry.kind == "file" and part.is_database(entry.path) for entry in entries)
                    result.bytes += back.manifest.bytes
        except (ParachuteError, OSError) as error:
            message = error.message if isinstance(error, ParachuteError) else f"{error.strerror}: {error.filename}."
            state.record(places.home, state.DRILL, state.FAILED, message, found.id if found else None)
            raise
        finally:
            remove(folder)
        state.record(places.home, state.DRILL, state.OK, None, found.id, files=result.files, bytes=result.bytes)
        return result


def _sentence(problems: list[str]) -> str:
    shown = "; ".join(problems[: compare.SHOWN])
    return shown if len(problems) <= compare.SHOWN else f"{shown}, and {len(problems) - compare.SHOWN:,} more"
