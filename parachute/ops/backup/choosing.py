"""The place of this computer's backups as a device chooses it: its address, its password and its credentials, all of them or none."""

import asyncio
import json
import os
import secrets
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TypeVar

from parachute.base.errors import Conflict, InvalidInput
from parachute.base.files import atomic_write, private_folder
from parachute.config.settings.groups.operation import BackupSettings
from parachute.config.settings.home import Home
from parachute.config.settings.store import check_free, check_value, load, set_value, unset_value
from parachute.ops.backup import create
from parachute.ops.backup.access import SECRETS, Access, access_of, find
from parachute.ops.backup.jobs import BackupJobs
from parachute.ops.backup.kit import protection
from parachute.ops.backup.models import WrongPassword
from parachute.ops.backup.places import FOLDER, Places
from parachute.ops.backup.repository import Repository
from parachute.ops.backup.restic import Restic

_PLACE, _PASSWORD_FILE, _ENVIRONMENT_FILE = "repository", "password_file", "environment_file"
_OPENING, _PASSWORD, _TYPED = "password.opening", "password", "environment-"
_LONGEST = 4000

T = TypeVar("T")


async def make_repository(
    home: Home, jobs: BackupJobs, repository: str, variables: Mapping[str, str], *, replaces: bool = False
) -> None:
    """Make a repository there, with a password unless there is one, and have backups go there. Errors: as for `make_at`."""
    await _chosen(jobs, lambda: make_at(home, repository, variables, replaces=replaces))


def make_at(
    home: Home, repository: str, variables: Mapping[str, str] | None = None, *, replaces: bool = False
) -> tuple[bool, str | None]:
    """Make a repository there, as `make_repository` does where no server is asked.

    Returns whether a password was made, and the address of the place of before if that is another one. Errors: as for
    `open_repository`, and Conflict if another place is set and this one is not to replace it.
    """
    check_value(home, f"backup.{_PLACE}", json.dumps(repository))
    before = load(home).backup.repository
    replaced = before if before and before != BackupSettings(repository=repository).repository else None
    shown = Access(replaced, home.root).shown if replaced else None
    if shown and not replaces:
        raise Conflict(
            f"Backups go to {shown} already.",
            f"Confirm (`--replace`) that they go to {Access(repository, home.root).shown} from now on; what is in {shown} stays there.",
            key="other_place",
        )
    return _choose(home, create.make, variables or {}, place=repository, is_new=True), shown


async def open_repository(
    home: Home, jobs: BackupJobs, repository: str, password: str, variables: Mapping[str, str]
) -> None:
    """Have backups go there, if the password opens it; a password of before stays beside it, under another name.

    Who brings all of it has what the emergency kit has: the backups are protected. Errors: ConfigError, Declared, InvalidInput for a
    place or a password that is none, Conflict, WrongPassword, and those of restic.
    """
    if not password.strip().isprintable():
        raise InvalidInput(
            "The password must be a single line.", "You find it on the emergency kit.", key="password_of_lines"
        )
    await _chosen(jobs, lambda: _open(home, repository, password.strip(), variables))


async def change_credentials(home: Home, jobs: BackupJobs, variables: Mapping[str, str]) -> None:
    """Have the place of backups opened with these credentials, if they open it. Errors: as for `open_repository`."""
    await _chosen(jobs, lambda: _choose(home, Repository.check_there, variables))


async def _chosen(jobs: BackupJobs, choose: Callable[[], object]) -> None:
    async with jobs.new_repository:
        jobs.check_free()
        await asyncio.to_thread(choose)
    jobs.settled()


def _open(home: Home, repository: str, password: str, variables: Mapping[str, str]) -> None:
    folder = private_folder(home.root / FOLDER)
    opening, file = folder / _OPENING, folder / _PASSWORD
    atomic_write(opening, f"{password}\n", 0o600)
    try:
        identity = _choose(home, _identity, variables, place=repository, password_file=opening)
        if file.exists() and file.read_bytes().strip() != password.encode():
            number = 1
            while os.path.lexists(aside := folder / f"{_PASSWORD}.before-{number}"):
                number += 1
            file.rename(aside)
        opening.rename(file)
        protection.record(home, access_of(home, load(home)), identity)
    finally:
        opening.unlink(missing_ok=True)


def _identity(repository: Repository) -> str:
    try:
        return repository.identity()
    except WrongPassword as error:
        said = f"This password does not open the backups in {repository.access.shown}."
        hint = "Compare each character, capitals included, with what you have written down."
        raise WrongPassword(said, hint) from error


def _choose(
    home: Home,
    show: Callable[[Repository], T],
    variables: Mapping[str, str],
    *,
    place: str | None = None,
    password_file: Path | None = None,
    is_new: bool = False,
) -> T:
    """Have the settings name what is given, once `show` has shown that it is one; a password is expected where it lies by itself.

    What is new is named before it is made: a repository that no setting names would be in the way of the next one.
    """
    settings = load(home)
    before = settings.backup
    wanted: dict[str, str | None] = {}
    if password_file is not None:
        wanted[_PASSWORD_FILE] = None
    typed = _write(home, variables) if variables else None
    try:
        if typed is not None:
            wanted[_ENVIRONMENT_FILE] = str(typed)
        if place is not None:
            wanted[_PLACE] = place
            check_value(home, f"backup.{_PLACE}", json.dumps(place))
        for name in wanted:
            check_free(f"backup.{name}")
        named = before.repository if place is None else BackupSettings(repository=place).repository
        places = Places(home.root, settings.vault)
        access = find(places, named, password_file or before.password_file, typed or before.environment_file)
        if is_new:
            put_back = _set(home, wanted)
            try:
                shown = show(Repository(Restic(places, access)))
            except BaseException:
                put_back()
                raise
        else:
            shown = show(Repository(Restic(places, access)))
            _set(home, wanted)
    except BaseException:
        if typed is not None:
            typed.unlink(missing_ok=True)
        raise
    old = before.environment_file
    # A file that a person has written stays.
    if typed is not None and old is not None and old.parent == typed.parent and old.name.startswith(_TYPED):
        old.unlink(missing_ok=True)
    return shown


def _set(home: Home, wanted: Mapping[str, object]) -> Callable[[], None]:
    """Write settings, and return what puts those of before back."""
    backup = load(home).backup
    before = {name: getattr(backup, name) for name in wanted}

    def put(values: Mapping[str, object]) -> None:
        for name, value in values.items():
            if value is None:
                unset_value(home, f"backup.{name}")
            else:
                set_value(home, f"backup.{name}", json.dumps(str(value)))

    try:
        put(wanted)
    except BaseException:
        put(before)
        raise
    return lambda: put(before)


def _write(home: Home, variables: Mapping[str, str]) -> Path:
    """Write credentials into a file of their own, for nobody else to read; errors: InvalidInput without any of the values, OSError."""
    for name, value in variables.items():
        if name not in SECRETS:
            hint = f"These are {', '.join(sorted(SECRETS))}. A file that a place needs is named on the computer itself."
            raise InvalidInput(
                f"{name[:60]!r} is not a credential of this kind of place.", hint, key="unknown_credential"
            )
        if not value.strip() or not value.isprintable() or len(value) > _LONGEST:
            raise InvalidInput(
                f"{name}: enter a single line.", "The provider of the storage names it.", key="credential_of_lines"
            )
    file = private_folder(home.root / FOLDER) / f"{_TYPED}{secrets.token_hex(4)}"
    # In quotes, as a value may begin and end with them.
    atomic_write(file, "".join(f'{name}="{value.strip()}"\n' for name, value in sorted(variables.items())), 0o600)
    return file
