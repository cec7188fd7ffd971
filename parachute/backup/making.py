"""Making a repository, and the password that opens it."""

from parachute.backup.access import make_password
from parachute.backup.models import BackupFailed, RepositoryMissing
from parachute.backup.places import Places
from parachute.backup.repository import Repository
from parachute.errors import Conflict


def make(places: Places, repository: Repository) -> bool:
    """Make the repository; whether a password was made as well.

    Errors: Conflict if there is one, BackupFailed if the folder above is not there, those of `Repository`.
    """
    with places.alone():
        folder = repository.access.folder
        if folder is not None and not folder.parent.is_dir():
            raise BackupFailed(
                f"There is no folder {folder.parent} for the repository.",
                "If it is on a USB disk, plug that in; else make it.",
            )
        # Before anything is made: a password that opens nothing is one more to be kept by mistake.
        if folder is not None and (folder / "config").exists():
            raise _there(repository)
        made = make_password(repository.access)
        try:
            repository.check_there()
        except RepositoryMissing:
            repository.make()
            return made
        raise _there(repository)


def _there(repository: Repository) -> Conflict:
    return Conflict(
        f"There is a repository at {repository.access.shown} already.",
        "`parachute backup create` makes a backup in it.",
    )
