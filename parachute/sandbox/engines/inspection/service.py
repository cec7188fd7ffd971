"""Inspection of one session's sandbox from all sides."""

from contextlib import suppress

from msgspec import to_builtins

from parachute.base.errors import InvalidInput, Unavailable
from parachute.config.settings.home import Home
from parachute.sandbox.engines import containers
from parachute.sandbox.engines.inspection import engine_reports, expected
from parachute.sandbox.engines.inspection.inside import inspect
from parachute.sandbox.engines.inspection.models import Explanation, Finding, either
from parachute.sandbox.engines.inspection.rows import EGRESS, Inspection, rows
from parachute.sandbox.engines.inspection.services import services
from parachute.sandbox.engines.models import Specification
from parachute.sandbox.engines.protected import protected
from parachute.supervisor import units


def explain(home: Home, specification: Specification) -> Explanation:
    """The comparison of a sandbox with its specification; one that sleeps is started by it.

    Errors: those of `protected` and `inspect`. Waits; not for the event loop.
    """
    wanted = protected(specification)
    targets = (mount.target for mount in expected.mounts(wanted))
    paths = (*expected.SYSTEM, *targets, *expected.memory(wanted), EGRESS)
    try:
        with services() as opened:
            path = units.agent_socket(home, specification.session)
            seen, process = inspect(path, paths, opened.addresses.values())
            if wanted.is_container:
                engine = engine_reports.of_podman(wanted, process, engine_reports.record(wanted))
            else:
                engine = engine_reports.of_kernel(wanted, process)
            engine["specification"] = _saved(home, specification)
            found = rows(Inspection(wanted, engine, process, seen, opened, containers.image_of(home)))
    except OSError as error:
        raise Unavailable(
            f"The inspection cannot be prepared: {error}.", "Try again.", key="inspection_not_prepared"
        ) from error
    differs = any(row.differs for row in found)
    return Explanation(specification.session, "sandboxed", specification.engine, rows=found, differs=differs)


def _saved(home: Home, specification: Specification) -> Finding:
    """The file of a specification against what the server keeps."""
    changed = ["it cannot be read"]
    with suppress(InvalidInput):
        saved, kept = to_builtins(Specification.load(home.sandboxes, specification.session)), to_builtins(specification)
        changed = [name for name in kept if saved[name] != kept[name]]
    return either(not changed, "the same", f"the file says otherwise: {', '.join(changed)}")
