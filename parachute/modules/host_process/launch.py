"""The launcher of a module's process in its sandbox, started by its socket: `python -m parachute.modules.host_process.launch NAME`."""

import os
import shutil
import sys

from parachute.base.errors import ParachuteError, Unavailable
from parachute.modules.host_process.confinement import command
from parachute.sandbox.engines.launch import become
from parachute.supervisor.specifications.host import HostSpecification


def main() -> None:
    """Replace this process by bubblewrap, or, where there is none, by the module's process itself.

    A module that is not trusted is not started without a sandbox.
    """
    try:
        specification = HostSpecification.load(sys.argv[1])
        wanted = specification.box
        if wanted or (wanted is None and shutil.which("bwrap")):
            become(command(specification))
        if specification.trust == "untrusted":
            raise Unavailable(
                f"The module {specification.name} is not trusted, and without bubblewrap nothing can hold it back.",
                "`sudo apt-get install bubblewrap` installs it on Debian and Ubuntu.",
                key="no_confinement",
            )
    except (ParachuteError, OSError, IndexError) as error:
        print(f"This module cannot be started: {error}", file=sys.stderr)  # noqa: T201 - kept by the supervisor
        sys.exit(2)
    os.set_inheritable(3, True)
    os.execv(sys.executable, [sys.executable, "-m", "parachute.modules.host_process", specification.name])  # noqa: S606 - our own list


if __name__ == "__main__":
    main()
