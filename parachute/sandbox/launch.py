"""Started for one sandbox by its socket: reads the specification and becomes the engine (`python -m parachute.sandbox.launch ID`)."""

import os
import resource
import sys

from parachute.errors import ParachuteError
from parachute.sandbox import bubblewrap
from parachute.sandbox.models import Specification
from parachute.settings.home import Home

_OPEN_FILES = 10_000
_FILE_SIZE = 4 << 30


def main() -> None:
    """Replace this process by the sandbox; the listening socket stays file descriptor 3."""
    try:
        specification = Specification.load(Home.find().sandboxes, sys.argv[1])
    except (ParachuteError, IndexError) as error:
        sys.exit(f"This sandbox cannot be started: {error}")
    for limit, value in (
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_NOFILE, _OPEN_FILES),
        (resource.RLIMIT_FSIZE, _FILE_SIZE),
    ):
        hard = resource.getrlimit(limit)[1]
        if hard != resource.RLIM_INFINITY:
            value = min(value, hard)
        resource.setrlimit(limit, (value, value))
    os.set_inheritable(3, True)
    command = bubblewrap.command(specification)
    os.execvp(command[0], command)  # noqa: S606 - the arguments are a list of our own


if __name__ == "__main__":
    main()
