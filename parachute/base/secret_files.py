"""Files of the user's with a secret in them, which nobody else may read: a password, or lines NAME=value."""

import os
import stat
from collections.abc import Collection
from pathlib import Path

from parachute.base.errors import InvalidInput

_LIMIT = 64 * 1024


def read_secret(path: Path, field: str) -> bytes:
    """Read a file that nobody else may read; what belongs to root, such as a secret of the system, may be our group's.

    `field` begins the message. Errors: OSError, InvalidInput.
    """
    with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:  # noqa: PTH123 - a descriptor
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode):
            raise InvalidInput(f"{field}: {path} is not a file.", key="secret_file_missing")
        if status.st_mode & (0o007 if status.st_uid == 0 != os.geteuid() else 0o077):
            mode = stat.S_IMODE(status.st_mode)
            raise InvalidInput(
                f"{field}: others can read {path} (mode {mode:04o}).",
                f"Make it private: chmod 600 {path}",
                key="not_private",
            )
        return file.read(_LIMIT)


def read_variables(path: Path, field: str, allowed: Collection[str]) -> dict[str, str]:
    """The variables of such a file, which may name only those that are allowed. Errors: OSError, InvalidInput."""
    try:
        text = read_secret(path, field).decode()
    except UnicodeDecodeError as error:
        raise InvalidInput(f"{field}: {path} is not text in UTF-8.", key="secret_file_not_text") from error
    variables = {}
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        name, equals, value = line.partition("=")
        name = name.strip()
        if not equals or name not in allowed:
            # The line itself may hold a secret.
            raise InvalidInput(
                f"{path}, line {number}: expected NAME=value with one of the names that are allowed there.",
                f"These are {', '.join(sorted(allowed))}.",
                key="invalid_line",
            )
        value = value.strip()
        variables[name] = value[1:-1] if len(value) > 1 and value[0] == value[-1] and value[0] in "\"'" else value
    return variables
