"""Started for an MCP server by its socket: becomes its box (`python -m parachute.mcp_servers.launch NAME`)."""

import json
import os
import sys

from parachute.errors import ParachuteError
from parachute.mcp_servers import box, specification
from parachute.mcp_servers.named_files import copies
from parachute.mcp_servers.secrets import Secrets
from parachute.panic.brake import Brake
from parachute.sandbox.launch import become
from parachute.settings.home import Home


def main() -> None:
    """Replace this process by bubblewrap; a server that is not approved as it is does not start, nor does one without a box."""
    try:
        home = Home.find()
        Brake(home.root).check()
        started = specification.load(home.root, sys.argv[1])
        server = started.runnable.server
        own = Secrets(home.root).environment(server)
        document = {"command": box.program(started), "environment": box.environment(own)}
        command = box.command(started, copies(started.folders.files, started.runnable.files), _passed_on(document))
        become(command)
    except (ParachuteError, OSError, IndexError) as error:
        print(f"This MCP server cannot be started: {error}", file=sys.stderr)  # noqa: T201 - kept by the supervisor
        sys.exit(2)


def _passed_on(document: object) -> int:
    """A descriptor with the document: a command line and an environment can be read by other programs of the user."""
    descriptor = os.memfd_create("start", 0)
    with os.fdopen(os.dup(descriptor), "w") as file:
        json.dump(document, file)
    os.lseek(descriptor, 0, os.SEEK_SET)
    os.set_inheritable(descriptor, True)
    return descriptor


if __name__ == "__main__":
    main()
