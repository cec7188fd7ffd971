"""Access to the repository: its address, the password, and the credentials of a remote one."""

import re
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from parachute.base.errors import InvalidInput
from parachute.base.files import atomic_write
from parachute.base.secret_files import read_secret, read_variables
from parachute.config.settings.home import Home
from parachute.ops.backup.models import NotSetUp
from parachute.ops.backup.places import FOLDER, Places

if TYPE_CHECKING:  # pydantic, for which nobody should wait
    from parachute.config.settings.models import Settings

_NAMES = """
AWS_ACCESS_KEY_ID AWS_SECRET_ACCESS_KEY AWS_SESSION_TOKEN AWS_DEFAULT_REGION AWS_PROFILE AWS_SHARED_CREDENTIALS_FILE
B2_ACCOUNT_ID B2_ACCOUNT_KEY AZURE_ACCOUNT_NAME AZURE_ACCOUNT_KEY AZURE_ACCOUNT_SAS AZURE_ENDPOINT_SUFFIX
GOOGLE_PROJECT_ID GOOGLE_APPLICATION_CREDENTIALS GOOGLE_ACCESS_TOKEN
OS_AUTH_URL OS_REGION_NAME OS_USERNAME OS_USER_ID OS_PASSWORD OS_TENANT_ID OS_TENANT_NAME OS_USER_DOMAIN_NAME
OS_USER_DOMAIN_ID OS_PROJECT_NAME OS_PROJECT_DOMAIN_NAME OS_TRUST_ID OS_APPLICATION_CREDENTIAL_ID
OS_APPLICATION_CREDENTIAL_NAME OS_APPLICATION_CREDENTIAL_SECRET ST_AUTH ST_USER ST_KEY
RESTIC_REST_USERNAME RESTIC_REST_PASSWORD RCLONE_CONFIG RCLONE_CONFIG_PASS RCLONE_BWLIMIT SSH_AUTH_SOCK
"""

VARIABLES = frozenset(_NAMES.split())
"""Variables that the environment file may set; none by which restic would run another program or take another password."""

SECRETS = VARIABLES - frozenset(
    [
        "AWS_PROFILE",
        "AWS_SHARED_CREDENTIALS_FILE",
        "GOOGLE_APPLICATION_CREDENTIALS",
        "RCLONE_CONFIG",
        "RCLONE_CONFIG_PASS",
        "RCLONE_BWLIMIT",
        "SSH_AUTH_SOCK",
    ]
)
"""Variables that may be typed on another device, and are on the emergency kit: values, and no files, which could name programs."""

_REMOTE = re.compile(r"(sftp|rest|s3|b2|azure|gs|swift|rclone):")
_STARTING = re.compile(r"(sftp|rclone):")
_HARMLESS = re.compile(
    # restic takes the host behind the second @, or in a URL behind the last one.
    r"sftp:(?!//)([^@:/]*@){0,2}[^@:/-][^@:/]*:.*|sftp://([^/]*@)?[^@/-][^@/]*(/.*)?"
    # A remote that rclone's own configuration describes: others can name a program in their options.
    r"|rclone:[\w.+][\w.+@ -]*:.*",
    re.DOTALL,
)
"""Addresses for which ssh and rclone start nothing that the address itself names."""


@dataclass(frozen=True, slots=True)
class Access:
    """An address, as the settings say it, and what opens it; `variables` are secrets."""

    repository: str
    password_file: Path
    variables: Mapping[str, str] = field(default_factory=dict, repr=False)

    @property
    def folder(self) -> Path | None:
        """Return the folder of a repository on this machine, None for a remote one."""
        return None if _REMOTE.match(self.repository) else Path(self.repository.removeprefix("local:"))

    @property
    def shown(self) -> str:
        """The address without a password that may be in it."""
        return re.sub(r"(://[^/:@]*):[^/]*@", r"\1:***@", self.repository)


def find(
    places: Places,
    repository: str | None,
    password_file: Path | None,
    environment_file: Path | None,
    typed: Mapping[str, str] | None = None,
) -> Access:
    """Read the access from the settings, checked but for the password; `typed` are variables of no file. Errors: NotSetUp, InvalidInput."""
    if not repository:
        hint = "`parachute backup init /media/usb/parachute` chooses a place and makes the first backup."
        raise NotSetUp("No place for backups is set.", hint)
    if _STARTING.match(repository) and not _HARMLESS.fullmatch(repository):
        raise InvalidInput(
            "backup.repository: this address could have ssh or rclone start a program.",
            "It looks like sftp:me@host:/folder, sftp://me@host:22/folder or rclone:NAME:folder, with a NAME of rclone's own "
            "configuration; no host or remote begins with `-`.",
            key="starts_a_program",
        )
    for setting, path in (("password_file", password_file), ("environment_file", environment_file)):
        if path is not None and path.resolve().is_relative_to(places.vault.resolve()):
            hint = f"Move it out of there, such as to {places.home / FOLDER / path.name}."
            raise InvalidInput(
                f"backup.{setting}: {path} lies in the vault, where agents can read it.", hint, key="lies_in_the_vault"
            )
    try:
        variables = read_variables(environment_file, "backup.environment_file", VARIABLES) if environment_file else {}
    except FileNotFoundError as error:
        raise NotSetUp(f"backup.environment_file: there is no {environment_file}.") from error
    access = Access(repository, password_file or places.home / FOLDER / "password", {**variables, **(typed or {})})
    if access.folder is not None:
        for name, root in (("the vault", places.vault), ("the state directory", places.home)):
            if access.folder.resolve().is_relative_to(root.resolve()):
                said = f"backup.repository: {access.folder} lies in {name}, which it is meant to back up."
                raise InvalidInput(said, "Name a folder on another disk.", key="same_disk")
    return access


def access_of(home: Home, settings: "Settings") -> Access:
    """The access that the settings name. Errors: NotSetUp, InvalidInput."""
    backup = settings.backup
    places = Places(home.root, settings.vault)
    return find(places, backup.repository, backup.password_file, backup.environment_file)


def check_password(access: Access) -> None:
    """See that the password is there and only ours; errors: NotSetUp, InvalidInput."""
    path = access.password_file
    if not path.exists() or not read_secret(path, "backup.password").strip():
        raise NotSetUp(
            f"The password of the backups is missing: {path} is {'empty' if path.exists() else 'not there'}.",
            "For an existing repository write the copy you have kept into that file; `parachute backup init` makes a new "
            "password and a new repository.",
        )


def is_made(password: str) -> bool:
    """Return whether a password looks like those that `make_password` makes."""
    return re.fullmatch(r"[\w-]{43}", password, re.ASCII) is not None


def make_password(access: Access) -> bool:
    """Write a new random password of 256 bits unless there is one; whether it was made."""
    if access.password_file.exists():
        return False
    access.password_file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    atomic_write(access.password_file, f"{secrets.token_urlsafe(32)}\n", 0o600)
    return True
