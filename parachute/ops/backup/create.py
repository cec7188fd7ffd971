"""Create a repository and backups, and prune old ones."""

import secrets

from msgspec import Struct, field

from parachute.base.errors import Conflict, NotFound, ParachuteError
from parachute.config.vault.place import VaultMissing, VaultPlace
from parachute.ops.backup import backups, state
from parachute.ops.backup.access import make_password
from parachute.ops.backup.backups import Backup, Retention
from parachute.ops.backup.models import BackupFailed, Progress, Report, RepositoryMissing
from parachute.ops.backup.places import Places
from parachute.ops.backup.repository import Repository
from parachute.ops.backup.staging import name_troubled, staged


class Created(Struct):
    """A backup that was made: what is in each part, how many old ones were removed, and why none were if that failed."""

    id: str
    reports: dict[str, Report] = field(default_factory=dict)
    removed: int = 0
    not_removed: str | None = None

    @property
    def is_complete(self) -> bool:
        """Return whether everything is in it, and readable."""
        return all(report.is_complete for report in self.reports.values())


def make(repository: Repository) -> bool:
    """Make the repository, and the password that opens it unless there is one; whether it was made. Error: Conflict."""
    folder, shown = repository.access.folder, repository.access.shown
    hint = "`parachute backup create` makes a backup in it."
    there = Conflict(f"{shown} already contains a repository.", hint, key="repository_exists")
    with repository.alone():
        if folder is not None and not folder.parent.is_dir():
            hint = "If it is on a USB disk, plug that in; else make it."
            raise BackupFailed(f"There is no folder {folder.parent} for the repository.", hint, key="no_folder")
        # Before anything is made: a password that opens nothing is one more to be kept by mistake.
        if folder is not None and (folder / "config").exists():
            raise there
        made = make_password(repository.access)
        try:
            repository.check_there()
        except RepositoryMissing:
            repository.make()
            return made
        raise there


def create(places: Places, repository: Repository, retention: Retention | None, progress: Progress) -> Created:
    """Back up both parts, then remove what `retention` does not keep (None: nothing). How it ended is recorded."""
    with repository.alone():
        with state.recorded(places.home, state.CREATE, {}):
            created = _create(places, repository, progress)
        missing = [path for report in created.reports.values() for path in (*report.unreadable, *report.damaged)]
        problem = f"{len(missing)} files could not be backed up well, {missing[0]!r} among them." if missing else None
        files, size = (sum(getattr(report, name) for report in created.reports.values()) for name in ("files", "bytes"))
        result = state.OK if created.is_complete else state.INCOMPLETE
        state.record(places.home, state.CREATE, result, problem, created.id, files=files, bytes=size)
        if retention is not None:
            progress.step("Removing old backups")
            try:
                created.removed = len(_prune(places, repository, retention))
            except ParachuteError as error:
                created.not_removed = error.message
        return created


def prune(places: Places, repository: Repository, retention: Retention, *, really: bool = True) -> list[Backup]:
    """Remove what `retention` does not keep, and return it; `really` false only reports. Errors: as for `create`."""
    with repository.alone():
        return _prune(places, repository, retention, really=really)


def _prune(places: Places, repository: Repository, retention: Retention, *, really: bool = True) -> list[Backup]:
    keep, installation = state.State.read(places.home).last_made, places.installation
    gone = repository.forgettable(backups.tags_of(installation), retention.rules(keep))
    made = backups.grouped(repository.snapshots())
    found = [backup for backup in made if any(snapshot.id in gone for snapshot in backup.snapshots)]
    if found and really:
        repository.forget([snapshot.id for backup in found for snapshot in backup.snapshots])
    return found


def _create(places: Places, repository: Repository, progress: Progress) -> Created:
    _check_vault(places)
    # First, so that what is wrong with the repository is said before anything is read.
    repository.check_there()
    created = Created(secrets.token_hex(4))
    parts = places.parts()
    folders = {part.name: str(part.root) for part in parts}
    progress.step("Copying databases")
    try:
        with staged(places, created.reports) as excludes:
            progress.step("Storing the vault, keys, approvals and settings")
            size = sum(report.bytes for report in created.reports.values())
            names = backups.tags(created.id, places.installation, folders, size)
            snapshot, troubled = repository.store([part.root for part in parts], names, excludes, progress)
    except OSError as error:
        where = f" ({error.filename})" if error.filename else ""
        hint = f"Databases are copied into {places.staging} first: is there room on that disk?"
        raise BackupFailed(f"The backup cannot be made: {error.strerror or error}{where}.", hint) from error
    try:
        _check_vault(places)  # its disk may have gone meanwhile
    except (NotFound, VaultMissing):
        repository.forget([snapshot])
        raise
    for part in parts:
        name_troubled(part, troubled, created.reports[part.name])
    return created


def _check_vault(places: Places) -> None:
    """See that the vault is there. A disk that is not mounted leaves an empty folder, and its backups would replace the good."""
    other = "`parachute vault set <path>`"
    VaultPlace(places.home, places.vault).check()
    if not places.vault.is_dir():
        raise NotFound(f"There is no vault at {places.vault}.", f"{other} names another folder.", key="vault_missing")
    if (places.home / "trust.db").exists() and not (places.vault / ".parachute").is_dir():
        said = f"The vault {places.vault} has no conversations, though this computer was used before."
        raise NotFound(
            said, f"It may be the empty place at which a disk was mounted: mount it, or {other}.", key="vault_empty"
        )
