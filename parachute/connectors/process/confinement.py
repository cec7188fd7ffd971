"""The bubblewrap sandbox of a connector: its library, two sockets of the server, and the folder that both share."""

import sys
from pathlib import Path

from parachute.sandbox.engines import own_process
from parachute.supervisor.specifications.connector import ConnectorSpecification, connector_folder, specification_path

PROGRAM = "parachute.connectors.process"
_PACKAGES = ("parachute", "parachute_runner")
_PLACES = frozenset(("site-packages", "dist-packages"))


def command(specification: ConnectorSpecification) -> list[str]:
    """The command line of a connector in its sandbox; descriptor 3 is its listening socket."""
    # Its library with all that this needs: code that was installed, which is no secret.
    libraries = [path for path in sys.path if Path(path).name in _PLACES]
    mounts = [option for path in libraries for option in ("--ro-bind-try", path, path)]
    own = str(specification_path(specification.platform))
    sockets = str(Path(specification.core_socket).parent)
    for option, path in (("--ro-bind", own), ("--ro-bind-try", sockets), ("--bind", specification.files)):
        mounts += [option, path, path]
    return own_process.command(
        mounts,
        _PACKAGES,
        PROGRAM,
        ["--sandbox", specification.platform],
        root=str(connector_folder(specification.platform).parents[2]),
        folder=specification.files,
        paths=libraries,
    )
