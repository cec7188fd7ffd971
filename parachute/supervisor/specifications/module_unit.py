"""The unit of a module's host, from the specification that core wrote."""

from collections.abc import Callable
from pathlib import Path

from parachute.supervisor.models import Confinement, Unit
from parachute.supervisor.specifications.host import HostSpecification, specification_path

_START_SECONDS = 60
_WATCHDOG_SECONDS = 30
_STOP_SECONDS = 10

Child = Callable[..., tuple[str, ...]]


def unit(root: Path, name: str, socket: Path, child: Child, *, confines: bool) -> Unit:
    """The host of a module; error: InvalidInput when core has written no specification for it.

    `root` is the state directory; `child` makes the command of a Python module. Where nobody enforces the confinement, the
    host is started in bubblewrap.
    """
    specification = HostSpecification.load(name, root)
    command = (
        child("parachute.modules.host_process", "--unit", name)
        if confines
        else child("parachute.modules.host_process.launch", name)
    )
    return Unit(
        f"module@{name}",
        command,
        listen=(socket,),
        on_demand=specification.idle_seconds is not None,
        notifies=True,
        start_seconds=_START_SECONDS,
        watchdog_seconds=_WATCHDOG_SECONDS,
        stop_seconds=_STOP_SECONDS,
        confinement=_confinement(specification, root, specification_path(name, root)),
    )


def _confinement(specification: HostSpecification, root: Path, own: Path) -> Confinement:
    core = Path(specification.core_socket).parent
    vault = tuple(map(Path, specification.read))
    return Confinement(
        read=(Path(specification.code), Path(specification.packages), own, core, *vault),
        write=(Path(specification.data), *map(Path, specification.write)),
        hide=private(root, Path(specification.vault)),
        loopback=specification.network,
        memory_bytes=specification.memory,
        processes=specification.pids,
    )


def private(*places: Path) -> tuple[Path, ...]:
    """The user's folders and these, also where a link leads to a disk of their own."""
    found = {way for place in (Path.home(), *places) for way in (place.absolute(), place.resolve())}
    return tuple(sorted(path for path in found if path.is_dir()))
