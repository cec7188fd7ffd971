"""Programs of the system that are asked something."""

import shutil
import subprocess

from msgspec import Struct

from parachute.base.errors import Unavailable
from parachute.ops.doctor.computer import Computer

_SECONDS = 30.0
"""A busy machine, such as a Pi that builds an image, needs long to start a program; checks run in parallel."""


class Answer(Struct, frozen=True):
    """The exit code and output of a program."""

    code: int
    out: str
    err: str


def is_there(computer: Computer, name: str) -> bool:
    """Return whether a program is installed."""
    return shutil.which(name, path=computer.environment.get("PATH")) is not None


def ask(computer: Computer, *command: str, seconds: float = _SECONDS) -> Answer:
    """Run a program to its end; error: Unavailable if it cannot be started or takes longer, and then it is killed."""
    try:
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
            stdin=subprocess.DEVNULL,
            timeout=seconds,
            cwd="/",
            # What is read must not be in the user's language.
            env={**computer.environment, "LC_ALL": "C.UTF-8"},
        )
    except subprocess.TimeoutExpired as error:
        raise Unavailable(f"{command[0]} did not answer within {seconds:g} seconds.", key="program_silent") from error
    except OSError as error:
        raise Unavailable(
            f"{command[0]} cannot be started: {error.strerror or error}.", key="program_not_started"
        ) from error
    return Answer(done.returncode, done.stdout.strip(), done.stderr.strip())
