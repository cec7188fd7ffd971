"""Credentials of the environment, kept out of every environment: a process's variables can be read by its user's agents."""

import ctypes
import json
import os
import sys
from pathlib import Path

from parachute.base.errors import InvalidInput

VARIABLES = ("ANTHROPIC_API_KEY", "CLAUDE_CODE_OAUTH_TOKEN", "ANTHROPIC_BASE_URL", "ANTHROPIC_AUTH_TOKEN")
"""Variables about the model's service in the shell that starts the server."""

_LIMIT = 64 * 1024
CREDENTIALS_FD = "PARACHUTE_CREDENTIALS_FD"
"""Names the descriptor of the pipe from which `Credentials.take` reads."""
CREDENTIALS_DIRECTORY = "CREDENTIALS_DIRECTORY"
"""Names the folder in which systemd lays what a unit's LoadCredential= says; `credentials` in it is ours."""

_PR_SET_DUMPABLE = 4  # linux/prctl.h


class Credentials(dict[str, str]):
    """The variables of VARIABLES that were set; passed on through a pipe, never through an environment."""

    @staticmethod
    def in_environment() -> bool:
        """True if the environment holds any, where other processes of the user can see them."""
        return any(os.environ.get(name) for name in VARIABLES)

    @classmethod
    def take(cls) -> "Credentials":
        """Read them from the pipe that the starting process left, or from the environment and the file that systemd hands over.

        They are removed from the pipe and the environment; the environment goes over the file. Error: InvalidInput for a file
        with anything else in it.
        """
        handed = _handed_over(os.environ.pop(CREDENTIALS_DIRECTORY, None))
        found = handed | {name: os.environ.pop(name) for name in VARIABLES if os.environ.get(name)}
        if number := os.environ.pop(CREDENTIALS_FD, None):
            with os.fdopen(int(number), "rb") as pipe:
                value = json.loads(pipe.read(_LIMIT) or b"{}")
            found = {name: str(text) for name, text in value.items() if name in VARIABLES}
        return cls(found)

    def pipe(self) -> int:
        """A file descriptor from which a child reads them with `take`; the caller closes it."""
        reader, writer = os.pipe()
        os.write(writer, json.dumps(self).encode()[:_LIMIT])
        os.close(writer)
        return reader


def _handed_over(folder: str | None) -> dict[str, str]:
    """The lines NAME=value of the file `credentials`; empty ones and those that begin with # say nothing."""
    path = Path(folder, "credentials") if folder else None
    if path is None or not path.exists():
        return {}
    with path.open("rb") as file:
        data = file.read(_LIMIT + 1)
    if len(data) > _LIMIT:
        raise InvalidInput(f"The file with credentials has more than {_LIMIT} bytes.", key="credentials_too_large")
    found: dict[str, str] = {}
    for number, line in enumerate(data.decode(errors="replace").splitlines(), 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        name, equals, value = (part.strip() for part in line.partition("="))
        # The error leaves the line out: it may be the secret itself.
        if not equals or name not in VARIABLES:
            known = ", ".join(VARIABLES)
            raise InvalidInput(
                f"Line {number} of the file with credentials names no known credential.",
                f"Write NAME=value, with one of {known}.",
                key="credential_unknown",
            )
        if len(value) > 1 and value[0] == value[-1] and value[0] in "\"'":
            value = value[1:-1]
        if not value or not value.isprintable():
            raise InvalidInput(
                f"Line {number} of the file with credentials: {name} has no value that can be one.",
                key="credential_invalid",
            )
        found[name] = value
    return found


def keep_private() -> None:
    """Let no other process of the same user read this one's memory, environment or open files (Linux)."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)
