"""Credentials of the environment, kept out of every environment: a process's variables can be read by its user's agents."""

import ctypes
import json
import os
import sys

VARIABLES = ("ANTHROPIC_API_KEY", "CLAUDE_CODE_OAUTH_TOKEN", "ANTHROPIC_BASE_URL", "ANTHROPIC_AUTH_TOKEN")
"""What the shell that starts the server may say about the model's service."""

_LIMIT = 64 * 1024
CREDENTIALS_FD = "PARACHUTE_CREDENTIALS_FD"
"""Names the descriptor of the pipe from which `Credentials.take` reads."""

_PR_SET_DUMPABLE = 4  # linux/prctl.h


class Credentials(dict[str, str]):
    """The variables of VARIABLES that were set; passed on through a pipe, never through an environment."""

    @staticmethod
    def in_environment() -> bool:
        """Whether the environment holds any, where other processes of the user can see them."""
        return any(os.environ.get(name) for name in VARIABLES)

    @classmethod
    def take(cls) -> "Credentials":
        """Read them from the pipe that the starting process left, or from the environment, and remove them from both."""
        found = {name: os.environ.pop(name) for name in VARIABLES if os.environ.get(name)}
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


def keep_private() -> None:
    """Let no other process of the same user read this one's memory, environment or open files (Linux)."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)
