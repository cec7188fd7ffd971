"""The process that an MCP server's socket starts; it becomes the sandbox (`python -m parachute.capabilities.mcp_servers.launch NAME`)."""

import json
import os
import sys
from pathlib import Path

from parachute.base.errors import ParachuteError
from parachute.capabilities.mcp_servers import sandbox, specification
from parachute.capabilities.mcp_servers.named_files import copies
from parachute.capabilities.mcp_servers.secrets import Secrets
from parachute.config.settings.home import Home
from parachute.modules.trees.hashing import verify
from parachute.sandbox.engines.launch import become
from parachute.security.kill_switch.switch import KillSwitch


def main() -> None:
    """Replace this process by bubblewrap; a server that is not approved as it is does not start."""
    try:
        home = Home.find()
        KillSwitch(home.root).check()
        started = specification.load(home.root, sys.argv[1])
        server = started.runnable.server
        if server.root:
            verify(Path(server.root), server.root_hash)
        own = Secrets(home.root).environment(server)
        document = {"command": sandbox.program(started), "environment": sandbox.environment(own)}
        command = sandbox.command(started, copies(started.folders.files, started.runnable.files), _passed_on(document))
        become(command)
    except (ParachuteError, OSError, IndexError) as error:
        print(f"This MCP server cannot be started: {error}", file=sys.stderr)  # noqa: T201 - kept by the supervisor
        sys.exit(2)


def _passed_on(document: object) -> int:
    """Write a document into a descriptor: a command line and an environment can be read by other programs of the user."""
    descriptor = os.memfd_create("start", 0)
    with os.fdopen(os.dup(descriptor), "w") as file:
        json.dump(document, file)
    os.lseek(descriptor, 0, os.SEEK_SET)
    os.set_inheritable(descriptor, True)
    return descriptor


if __name__ == "__main__":
    main()
