"""The password of the backups, for its owner to write down."""

from dataclasses import dataclass, field
from pathlib import Path

from parachute.base.errors import InvalidInput
from parachute.base.secret_files import read_secret
from parachute.config.settings.home import Home
from parachute.config.settings.store import load
from parachute.ops.backup.access import check_password, find
from parachute.ops.backup.places import Places


@dataclass(frozen=True, slots=True)
class Password:
    """The secret, the address of the repository that it opens, and its file."""

    secret: str = field(repr=False)
    repository: str
    file: Path


def read_password(home: Home) -> Password:
    """Read the password; waits for the disk. Errors: NotSetUp, InvalidInput, ConfigError."""
    settings = load(home)
    backup = settings.backup
    access = find(Places(home.root, settings.vault), backup.repository, backup.password_file, backup.environment_file)
    check_password(access)
    try:
        secret = read_secret(access.password_file, "backup.password").decode().strip()
    except UnicodeDecodeError as error:
        raise InvalidInput(f"backup.password: {access.password_file} is not text in UTF-8.") from error
    return Password(secret, access.shown, access.password_file)
