"""The kit of this computer's backups: showing it, and opening the backups with what somebody brings back of it."""

import hmac

from parachute.base.errors import InvalidInput, ParachuteError
from parachute.base.secret_files import read_secret
from parachute.config.settings.groups.operation import BackupSettings
from parachute.config.settings.home import Home
from parachute.config.settings.store import load
from parachute.ops.backup.access import Access, access_of, check_password, is_made
from parachute.ops.backup.kit import models, protection
from parachute.ops.backup.kit.models import TITLE, Kit
from parachute.ops.backup.kit.opening import opened_alone
from parachute.ops.backup.kit.protection import Opened
from parachute.ops.backup.models import WrongPassword
from parachute.ops.backup.places import Places
from parachute.ops.backup.repository import Repository


class OtherKit(InvalidInput):
    """The kit is of other backups than those that this computer makes."""

    key = "other_kit"


def read_kit(home: Home) -> Kit:
    """Read the kit; waits for the repository, which has to open. Errors: NotSetUp, InvalidInput, ConfigError, those of restic."""
    return kit_of(Repository.of(home, load(home)))


def kit_of(repository: Repository) -> Kit:
    """The kit of a repository; errors: NotSetUp, InvalidInput, and those of restic."""
    access = repository.access
    return Kit.of(access, _password(access), repository.identity())


def check_kit(home: Home, brought: str) -> Opened:
    """Open the backups with what somebody brings: the text of the kit, or its password. From then on they are protected.

    Errors: NotSetUp, OtherKit, WrongPassword, InvalidInput, ConfigError, and those of restic.
    """
    settings = load(home)
    access = access_of(home, settings)
    own = Kit.of(access, "", "")
    whole = models.parse(brought) if brought.strip().startswith(TITLE[:-1]) else None
    kit = whole or Kit(own.repository, _typed(brought), own.variables)
    if BackupSettings(repository=own.repository).repository != _place(kit):
        raise _other()
    if not kit.password.isprintable() or not kit.password:
        raise InvalidInput(
            "The password must be a single line.", "You find it on the emergency kit.", key="password_of_lines"
        )
    try:
        with opened_alone(kit, Places(home.root, settings.vault)) as repository:
            identity = repository.identity()
    except WrongPassword as error:
        said = f"This password does not open the backups in {access.shown}."
        raise WrongPassword(said, "Compare each character, capitals included, with the emergency kit.") from error
    if kit.identity not in (None, identity):
        raise _other()
    return protection.record(home, access, identity)


def confirms(home: Home, typed: str) -> bool:
    """Return whether somebody has the kit with which the backups were opened: its password, made by this computer, which nobody guesses."""
    try:
        settings = load(home)
        typed = _typed(typed)
        if not is_made(typed) or protection.opened(home, settings) is None:
            return False
        return hmac.compare_digest(_password(access_of(home, settings)).encode(), typed.encode())
    except (ParachuteError, OSError):
        return False


def _typed(text: str) -> str:
    """A password as it was typed: the sheet shows those that a computer has made in groups."""
    joined = "".join(text.split())
    return joined if is_made(joined) else text.strip()


def _place(kit: Kit) -> str | None:
    try:
        return BackupSettings(repository=kit.repository).repository
    except ValueError:
        return None


def _other() -> OtherKit:
    return OtherKit("This emergency kit is of other backups.", "Look at the place and the date that it names.")


def _password(access: Access) -> str:
    check_password(access)
    try:
        return read_secret(access.password_file, "backup.password").decode().strip()
    except UnicodeDecodeError as error:
        raise InvalidInput(
            f"backup.password: {access.password_file} is not text in UTF-8.", key="password_not_text"
        ) from error
