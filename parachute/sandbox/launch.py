"""Started for one sandbox by its socket: reads the specification and becomes the engine (`python -m parachute.sandbox.launch ID`)."""

import ctypes
import os
import platform
import resource
import sys
from typing import NoReturn

from parachute.errors import ParachuteError
from parachute.sandbox import bubblewrap
from parachute.sandbox.models import Specification
from parachute.sandbox.opened import open_mounts
from parachute.settings.home import Home

_OPEN_FILES = 10_000
_FILE_SIZE = 4 << 30
_KEYCTL = {"x86_64": 250, "aarch64": 219}  # asm/unistd.h
_KEYCTL_JOIN_SESSION_KEYRING = 1  # linux/keyctl.h


def main() -> None:
    """Replace this process by the sandbox; the listening socket stays file descriptor 3."""
    try:
        specification = Specification.load(Home.find().sandboxes, sys.argv[1])
        command = bubblewrap.command(specification, open_mounts(specification))
    except (ParachuteError, IndexError) as error:
        sys.exit(f"This sandbox cannot be started: {error}")
    become(command)


def become(command: list[str]) -> NoReturn:
    """Replace this process by a box, within limits and without the keys of the owner's login session."""
    for limit, value in (
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_NOFILE, _OPEN_FILES),
        (resource.RLIMIT_FSIZE, _FILE_SIZE),
    ):
        hard = resource.getrlimit(limit)[1]
        if hard != resource.RLIM_INFINITY:
            value = min(value, hard)
        resource.setrlimit(limit, (value, value))
    if number := _KEYCTL.get(platform.machine()):
        # No namespace separates the keys of the owner's login session from the agent: leave them behind.
        ctypes.CDLL(None).syscall(number, _KEYCTL_JOIN_SESSION_KEYRING, None)
    os.set_inheritable(3, True)
    os.execvp(command[0], command)  # noqa: S606 - the arguments are a list of our own


if __name__ == "__main__":
    main()
