"""Looking at the box of one session from all sides."""

from contextlib import suppress
from dataclasses import asdict

from parachute.errors import InvalidInput, Unavailable
from parachute.image.models import Image
from parachute.sandbox import containers
from parachute.sandbox.explaining import container
from parachute.sandbox.explaining.asked import asked
from parachute.sandbox.explaining.file_rows import SYSTEM
from parachute.sandbox.explaining.looking import look
from parachute.sandbox.explaining.models import Explanation, Tries
from parachute.sandbox.explaining.rows import Look, rows
from parachute.sandbox.explaining.services import services
from parachute.sandbox.explaining.views import ContainerView, KernelView, View
from parachute.sandbox.models import Specification
from parachute.sandbox.places import EGRESS_SOCKET, SOCKETS
from parachute.sandbox.protected import protected
from parachute.settings.home import Home
from parachute.supervisor import units


def explain(home: Home, specification: Specification) -> Explanation:
    """What core asked for against what is there; a box that sleeps is started by the look.

    Errors: those of `protected` and `look`. Waits; not for the event loop.
    """
    image: Image | None = containers.image_of(home)
    wanted = asked(protected(specification))
    paths = (*SYSTEM, *(mount.target for mount in wanted.mounts), *wanted.folders, f"{SOCKETS}/{EGRESS_SOCKET}")
    try:
        with services() as open_services:
            tries = Tries(paths, open_services.all)
            seen, process = look(units.agent_socket(home, specification.session), tries)
            visited = open_services.visited()
    except OSError as error:
        raise Unavailable(f"The look cannot be prepared: {error}.", "Try again.") from error
    view: View = KernelView(wanted, process)
    if wanted.is_container:
        view = ContainerView(wanted, process, container.inspect(specification))
    changed = _changed(home, specification)
    found = rows(Look(wanted, view, process, seen, open_services, visited, image, changed))
    return Explanation(specification.session, "sandboxed", specification.engine, rows=found)


def _changed(home: Home, specification: Specification) -> tuple[str, ...]:
    """The fields in which the file of a specification says something else than core."""
    with suppress(InvalidInput):
        saved, kept = asdict(Specification.load(home.sandboxes, specification.session)), asdict(specification)
        return tuple(name for name in kept if saved[name] != kept[name])
    return ("it cannot be read",)
