"""How the repository is opened: its address, the password, and the credentials of a remote place."""

import os
import re
import secrets
import stat
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from parachute.backup.models import NotSetUp
from parachute.backup.places import Places
from parachute.errors import InvalidInput
from parachute.files import atomic_write

VARIABLES = frozenset(
    {
        *("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_DEFAULT_REGION", "AWS_PROFILE"),
        *("AWS_SHARED_CREDENTIALS_FILE", "B2_ACCOUNT_ID", "B2_ACCOUNT_KEY"),
        *("AZURE_ACCOUNT_NAME", "AZURE_ACCOUNT_KEY", "AZURE_ACCOUNT_SAS", "AZURE_ENDPOINT_SUFFIX"),
        *("GOOGLE_PROJECT_ID", "GOOGLE_APPLICATION_CREDENTIALS", "GOOGLE_ACCESS_TOKEN"),
        *(
            "OS_AUTH_URL",
            "OS_REGION_NAME",
            "OS_USERNAME",
            "OS_USER_ID",
            "OS_PASSWORD",
            "OS_TENANT_ID",
            "OS_TENANT_NAME",
        ),
        *("OS_USER_DOMAIN_NAME", "OS_USER_DOMAIN_ID", "OS_PROJECT_NAME", "OS_PROJECT_DOMAIN_NAME", "OS_TRUST_ID"),
        *("OS_APPLICATION_CREDENTIAL_ID", "OS_APPLICATION_CREDENTIAL_NAME", "OS_APPLICATION_CREDENTIAL_SECRET"),
        *("ST_AUTH", "ST_USER", "ST_KEY", "RESTIC_REST_USERNAME", "RESTIC_REST_PASSWORD"),
        *("RCLONE_CONFIG", "RCLONE_CONFIG_PASS", "RCLONE_BWLIMIT", "SSH_AUTH_SOCK"),
    }
)
"""What the environment file may name; nothing by which restic would run another program or take another password."""

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

_LIMIT = 64 * 1024


@dataclass(frozen=True, slots=True)
class Access:
    """An address, as the settings say it, and what opens it; `variables` are secrets."""

    repository: str
    password_file: Path
    variables: Mapping[str, str] = field(default_factory=dict, repr=False)

    @property
    def folder(self) -> Path | None:
        """Where a repository on this machine is, None for a remote one."""
        return None if _REMOTE.match(self.repository) else Path(self.repository.removeprefix("local:"))

    @property
    def shown(self) -> str:
        """The address without a password that may be in it."""
        return re.sub(r"(://[^/:@]*):[^/]*@", r"\1:***@", self.repository)


def find(places: Places, repository: str | None, password_file: Path | None, environment_file: Path | None) -> Access:
    """What the settings say, checked but for the password; errors: NotSetUp, InvalidInput."""
    if not repository:
        raise NotSetUp(
            "No place for backups is set.",
            "`parachute config set backup.repository /media/usb/backup` names one, then `parachute backup init`.",
        )
    if _STARTING.match(repository) and not _HARMLESS.fullmatch(repository):
        raise InvalidInput(
            "backup.repository: this address could have ssh or rclone start a program.",
            "It looks like sftp:me@host:/folder, sftp://me@host:22/folder or rclone:NAME:folder, with a NAME of rclone's own "
            "configuration; no host or remote begins with `-`.",
        )
    for setting, path in (("password_file", password_file), ("environment_file", environment_file)):
        if path is not None and path.resolve().is_relative_to(places.vault.resolve()):
            raise InvalidInput(
                f"backup.{setting}: {path} lies in the vault, where agents can read it.",
                f"Move it out of there, such as to {places.home / 'backup' / path.name}.",
            )
    variables = _read_variables(environment_file) if environment_file else {}
    access = Access(repository, password_file or places.password, variables)
    if access.folder is not None:
        for name, root in (("the vault", places.vault), ("the folder of trust", places.home)):
            if access.folder.resolve().is_relative_to(root.resolve()):
                raise InvalidInput(
                    f"backup.repository: {access.folder} lies in {name}, which a backup has to survive.",
                    "Name a folder on another disk.",
                )
    return access


def check_password(access: Access) -> None:
    """See that the password is there and only ours; errors: NotSetUp, InvalidInput."""
    path = access.password_file
    try:
        data = _private(path, "password")
    except FileNotFoundError as error:
        raise NotSetUp(
            f"The password of the backups is missing: there is no {path}.",
            "For an existing repository write the copy you have kept into that file; `parachute backup init` makes a new "
            "password and a new repository.",
        ) from error
    if not data.strip():
        raise NotSetUp(
            f"The password of the backups is missing: {path} is empty.", "Write the copy you have kept into it."
        )


def make_password(access: Access) -> bool:
    """Write a new random password of 256 bits unless there is one; whether it was made."""
    if access.password_file.exists():
        return False
    access.password_file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    atomic_write(access.password_file, f"{secrets.token_urlsafe(32)}\n", 0o600)
    return True


def _read_variables(path: Path) -> dict[str, str]:
    try:
        text = _private(path, "environment_file").decode()
    except FileNotFoundError as error:
        raise NotSetUp(f"backup.environment_file: there is no {path}.") from error
    except UnicodeDecodeError as error:
        raise InvalidInput(f"backup.environment_file: {path} is not text in UTF-8.") from error
    variables = {}
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        name, equals, value = line.partition("=")
        name = name.strip()
        if not equals or name not in VARIABLES:
            # The line itself may hold a secret.
            raise InvalidInput(
                f"{path}, line {number}: expected NAME=value with one of the names that a repository needs.",
                f"These are {', '.join(sorted(VARIABLES))}.",
            )
        value = value.strip()
        variables[name] = value[1:-1] if len(value) > 1 and value[0] == value[-1] and value[0] in "\"'" else value
    return variables


def _private(path: Path, setting: str) -> bytes:
    """Read a file that nobody else may read; what belongs to root, such as a secret of the system, may be our group's."""
    with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:  # noqa: PTH123 - a descriptor
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode):
            raise InvalidInput(f"backup.{setting}: {path} is not a file.")
        others = 0o007 if status.st_uid == 0 != os.geteuid() else 0o077
        if status.st_mode & others:
            raise InvalidInput(
                f"backup.{setting}: others can read {path} (mode {stat.S_IMODE(status.st_mode):04o}).",
                f"Close it: chmod 600 {path}",
            )
        return file.read(_LIMIT)
