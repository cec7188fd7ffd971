"""Making a backup."""

import contextlib
import json
import shutil
import socket
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from parachute import __version__
from parachute.backup import backups, collect, manifest, state
from parachute.backup.backups import CLOSED, FILES, Backup, Retention
from parachute.backup.closing import Closing
from parachute.backup.collect import Found, Signature
from parachute.backup.manifest import Manifest
from parachute.backup.models import BackupFailed, Part, Progress, Report
from parachute.backup.places import Places
from parachute.backup.repository import Repository
from parachute.clock import now
from parachute.errors import NotFound, ParachuteError
from parachute.files import atomic_write, private_folder

_FRESH_NS = 2_000_000_000
_CALLED = {"vault": "the vault", "trust": "keys, approvals and settings"}


@dataclass(slots=True)
class Created:
    """A backup that was made: what is in each part, how many old ones were removed, and why none were if that failed."""

    id: str
    reports: dict[str, Report] = field(default_factory=dict)
    removed: int = 0
    not_removed: str | None = None

    @property
    def is_complete(self) -> bool:
        """Whether everything is in it, and well."""
        return all(report.is_complete for report in self.reports.values())


def create(places: Places, repository: Repository, retention: Retention | None, progress: Progress) -> Created:
    """Back up both parts, then remove what `retention` does not keep (None: nothing). How it ended is recorded.

    Errors: those of `Repository`, Locked, NotFound if there is no vault, BackupFailed if the disk is full.
    """
    with places.alone():
        try:
            created = _create(places, repository, progress)
        except ParachuteError as error:
            state.record(places.home, state.CREATE, state.FAILED, error.message)
            raise
        missing = [path for report in created.reports.values() for path in (*report.unreadable, *report.damaged)]
        told = f"{len(missing)} files could not be backed up well, {missing[0]!r} among them." if missing else None
        files, size = (sum(getattr(report, name) for report in created.reports.values()) for name in ("files", "bytes"))
        state.record(
            places.home,
            state.CREATE,
            state.OK if created.is_complete else state.INCOMPLETE,
            told,
            created.id,
            files=files,
            bytes=size,
        )
        if retention is not None:
            progress.step("Removing old backups")
            try:
                created.removed = len(_prune(places, repository, retention, keep=created.id))
            except ParachuteError as error:
                created.not_removed = error.message
        return created


def prune(places: Places, repository: Repository, retention: Retention, *, really: bool = True) -> list[Backup]:
    """Remove what `retention` does not keep, and return it; `really` false only looks. Errors: as for `create`."""
    with places.alone():
        if really:
            repository.unlock_own()
        return _prune(places, repository, retention, really=really)


def _prune(
    places: Places, repository: Repository, retention: Retention, *, keep: str | None = None, really: bool = True
) -> list[Backup]:
    keep = keep or state.State.read(places.home).last_made
    found = retention.removable(backups.grouped(repository.snapshots()), places.owner, keep)
    if found and really:
        repository.forget([snapshot for backup in found for snapshot in backup.snapshots])
    return found


def _create(places: Places, repository: Repository, progress: Progress) -> Created:
    _check_vault(places)
    installation = places.installation
    # First, so that what is wrong with the repository is told before anything is read.
    repository.check_there()
    repository.unlock_own()
    created = Created(backups.new_run())
    for part in places.parts():
        with _staging(places, part) as folder:
            progress.step(f"Looking at {_CALLED[part.name]}")
            try:
                report = _store(places, repository, part, folder, (created.id, installation), progress)
            except OSError as error:
                raise BackupFailed(
                    f"The backup cannot be made: {error.strerror or error}{f' ({error.filename})' if error.filename else ''}.",
                    f"Databases are copied into {folder} first: is there room on that disk?",
                ) from error
        created.reports[part.name] = report
    return created


def _check_vault(places: Places) -> None:
    """See that the vault is there. A disk that is not mounted leaves an empty folder, and its backups would replace the good."""
    if not places.vault.is_dir():
        raise NotFound(f"There is no vault at {places.vault}.", "`parachute vault set <path>` names another folder.")
    if (places.home / "trust.db").exists() and not (places.vault / ".parachute").is_dir():
        raise NotFound(
            f"The vault {places.vault} has no conversations, though this computer was used before.",
            "It may be the empty place at which a disk was mounted: mount it, or `parachute vault set <path>`.",
        )


def _store(
    places: Places, repository: Repository, part: Part, folder: Path, names: tuple[str, str], progress: Progress
) -> Report:
    """`names` are those of the run and of the installation."""
    report = Report()
    found = collect.scan(part.root, part, _known(places.hashes(part.name)))
    closing = Closing(part, folder, report)
    closing.copy_databases(found)
    progress.step(f"Storing {_CALLED[part.name]}")
    troubled = repository.store(part.root, backups.tags(part.name, FILES, *names), part.excludes, progress)
    entries = closing.settle(found, {path.removeprefix(f"{part.root}/") for path in troubled})
    _check_vault(places)  # its disk may have gone meanwhile
    report.files = sum(entry.kind == "file" for entry in entries.values())
    report.bytes = sum(entry.size for entry in entries.values())
    about = {
        "part": part.name,
        "run": names[0],
        "root": str(part.root),
        "made_at": now(),
        "computer": socket.gethostname(),
    }
    about |= {"parachute": __version__}
    manifest.write(Manifest(about, entries), folder / manifest.FILE)
    progress.step("Closing")
    repository.store(folder, backups.tags(part.name, CLOSED, *names), progress=progress)
    _remember(places.hashes(part.name), found)
    return report


@contextlib.contextmanager
def _staging(places: Places, part: Part) -> Iterator[Path]:
    """An empty folder, removed afterwards; what a killed backup has left there goes first."""
    folder = private_folder(places.staging) / part.name
    if folder.exists():
        shutil.rmtree(folder)
    try:
        yield private_folder(folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _known(path: Path) -> Mapping[str, tuple[Signature, str]]:
    """What the last backup has hashed: a vault is not read twice each night. Nothing if the file is no good."""
    known: dict[str, tuple[Signature, str]] = {}
    try:
        with path.open("rb") as file:
            for line in file:
                name, signature, digest = json.loads(line)
                mode, device, inode, size, modified, changed = map(int, signature)
                known[str(name)] = ((mode, device, inode, size, modified, changed), str(digest))
    except (OSError, ValueError, TypeError):
        return {}
    return known


def _remember(path: Path, found: Found) -> None:
    newest = max((signature[5] for signature in found.signatures.values()), default=0) - _FRESH_NS
    lines = [
        json.dumps([entry.path, found.signatures[entry.path], entry.sha256])
        for entry in found.entries.values()
        # What changed a moment ago may change once more within the same tick of the clock.
        if entry.sha256 and entry.twin is None and found.signatures[entry.path][5] < newest
    ]
    # Without it, everything is hashed again the next time.
    with contextlib.suppress(OSError):
        atomic_write(path, "\n".join(lines))
