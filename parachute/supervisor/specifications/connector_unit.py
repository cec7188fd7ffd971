"""The unit of a connector, from the specification that core wrote."""

from pathlib import Path

from parachute.supervisor.models import Confinement, Unit
from parachute.supervisor.specifications.connector import ConnectorSpecification, specification_path
from parachute.supervisor.specifications.module_unit import Child, private

_START_SECONDS = 60
_WATCHDOG_SECONDS = 60
_STOP_SECONDS = 10


def unit(root: Path, platform: str, socket: Path, child: Child, *, confines: bool) -> Unit:
    """A connector; error: InvalidInput when core has written no specification for it.

    It is always on, since nobody connects to it when a message comes. Where nobody enforces the confinement, it is started
    in bubblewrap.
    """
    specification = ConnectorSpecification.load(platform, root)
    command = (
        child("parachute.connectors.process", "--unit", platform)
        if confines
        else child("parachute.connectors.process.launch", platform)
    )
    return Unit(
        f"connector@{platform}",
        command,
        listen=(socket,),
        notifies=True,
        start_seconds=_START_SECONDS,
        watchdog_seconds=_WATCHDOG_SECONDS,
        stop_seconds=_STOP_SECONDS,
        confinement=Confinement(
            read=(specification_path(platform, root), Path(specification.core_socket).parent),
            write=(Path(specification.files),),
            hide=private(root, Path(specification.vault)),
            # Its library speaks to a proxy of its own over TCP, which speaks to the egress proxy's socket.
            loopback=True,
            memory_bytes=specification.memory,
            processes=specification.pids,
        ),
    )
