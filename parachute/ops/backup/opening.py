"""Opening a repository that is there already: its address, its password and its credentials, all of them or none."""

import asyncio
import json
import os
from collections.abc import Mapping

from parachute.base.errors import InvalidInput
from parachute.base.files import atomic_write, private_folder
from parachute.config.settings.groups.operation import BackupSettings
from parachute.config.settings.home import Home
from parachute.config.settings.store import check_value, load, set_value, unset_value
from parachute.ops.backup import credentials
from parachute.ops.backup.access import find
from parachute.ops.backup.jobs import BackupJobs
from parachute.ops.backup.kit import protection
from parachute.ops.backup.models import WrongPassword
from parachute.ops.backup.places import FOLDER, Places
from parachute.ops.backup.repository import Repository
from parachute.ops.backup.restic import Restic

_REPOSITORY, _PASSWORD_FILE = "backup.repository", "backup.password_file"
_OPENING, _PASSWORD = "password.opening", "password"


async def open_repository(
    home: Home, jobs: BackupJobs, repository: str, password: str, variables: Mapping[str, str]
) -> None:
    """Have backups go there, if the password opens it; a password of before stays beside it, under another name.

    Who brings all of it has what the emergency kit has: the backups are protected. Errors: ConfigError, Declared, InvalidInput for a
    place or a password that is none, Conflict, WrongPassword, and those of restic.
    """
    if not password.strip().isprintable():
        raise InvalidInput("password: it is a single line.", "It stands on the page that you have kept.")
    jobs.check_free()
    async with jobs.new_repository:
        await asyncio.to_thread(_open, home, repository, password.strip(), variables)


async def change_credentials(home: Home, jobs: BackupJobs, variables: Mapping[str, str]) -> None:
    """Have the place of backups opened with these credentials, if they open it. Errors: as for `open_repository`."""
    jobs.check_free()
    async with jobs.new_repository:
        await asyncio.to_thread(_change_credentials, home, variables)


def _open(home: Home, repository: str, password: str, variables: Mapping[str, str]) -> None:
    settings = load(home)
    check_value(home, _REPOSITORY, json.dumps(repository))
    named = BackupSettings(repository=repository).repository
    folder = private_folder(home.root / FOLDER)
    opening, file = folder / _OPENING, folder / _PASSWORD
    atomic_write(opening, f"{password}\n", 0o600)
    typed = credentials.write(home, variables) if variables else None
    try:
        places = Places(home.root, settings.vault)
        environment = settings.backup.environment_file if typed is None else typed.file
        found = find(places, named, opening, environment)
        try:
            identity = Repository(Restic(places, found)).identity()
        except WrongPassword as error:
            said = f"This password does not open the backups in {found.shown}."
            raise WrongPassword(
                said, "Compare each character, capitals included, with what you have written down."
            ) from error
        unset_value(home, _PASSWORD_FILE)
        if typed is not None:
            typed.use()
        set_value(home, _REPOSITORY, json.dumps(repository))
    except BaseException:
        if typed is not None:
            typed.undo()
        raise
    else:
        if file.exists() and file.read_bytes().strip() != password.encode():
            number = 1
            while os.path.lexists(aside := folder / f"{_PASSWORD}.before-{number}"):
                number += 1
            file.rename(aside)
        opening.rename(file)
        if typed is not None:
            typed.keep()
        protection.record(home, protection.access_of(home, load(home)), identity)
    finally:
        opening.unlink(missing_ok=True)


def _change_credentials(home: Home, variables: Mapping[str, str]) -> None:
    settings = load(home)
    access = protection.access_of(home, settings)
    typed = credentials.write(home, variables)
    try:
        found = find(Places(home.root, settings.vault), settings.backup.repository, access.password_file, typed.file)
        Repository(Restic(Places(home.root, settings.vault), found)).check_there()
        typed.use()
    except BaseException:
        typed.undo()
        raise
    typed.keep()
