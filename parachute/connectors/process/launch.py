"""The launcher of a connector in its sandbox: `python -m parachute.connectors.process.launch PLATFORM`."""

import shutil
import sys

from parachute.base.errors import ParachuteError, Unavailable
from parachute.connectors.process.confinement import command
from parachute.sandbox.engines.launch import become
from parachute.security.kill_switch.switch import KillSwitch
from parachute.supervisor.specifications.connector import ConnectorSpecification, connector_folder


def main() -> None:
    """Replace this process by bubblewrap: a connector reads what strangers write, and is not started without a sandbox."""
    try:
        specification = ConnectorSpecification.load(sys.argv[1])
        KillSwitch(connector_folder(specification.platform).parents[2]).check()
        if not shutil.which("bwrap"):
            raise Unavailable(
                "Without bubblewrap nothing can hold a messenger's library back.",
                "`sudo apt-get install bubblewrap` installs it on Debian and Ubuntu.",
                key="no_confinement",
            )
        become(command(specification))
    except (ParachuteError, OSError, IndexError) as error:
        print(f"This connector cannot be started: {error}", file=sys.stderr)  # noqa: T201 - kept by the supervisor
        sys.exit(2)


if __name__ == "__main__":
    main()
