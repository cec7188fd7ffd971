"""One row for each thing that a sandbox was asked to be: who runs in it, what it reaches, its files, and how much it may use."""

from collections.abc import Iterator, Mapping

from msgspec import Struct

from parachute.sandbox.engines.inspection import expected
from parachute.sandbox.engines.inspection.engine_reports import rights, variables
from parachute.sandbox.engines.inspection.inside import Findings
from parachute.sandbox.engines.inspection.kernel import NAMESPACES, Process
from parachute.sandbox.engines.inspection.models import SILENT, Finding, Row, amount, at_most, either, row_of
from parachute.sandbox.engines.inspection.services import NEIGHBOURS, Services
from parachute.sandbox.engines.models import Mount, Specification
from parachute.sandbox.image.models import Image
from parachute.sandbox.layout import EGRESS_SOCKET, ENVIRONMENT, SOCKETS

EGRESS = f"{SOCKETS}/{EGRESS_SOCKET}"

_OPEN = "An agent in this sandbox can do more than it may. Stop all agents (`parachute panic`) and check the engine."
_EXCHANGED = "The folder or its permission changed after the sandbox started. Restart: parachute restart"
_MADE_ANEW = "Restart the computer to recreate the sandbox: parachute restart"
_LIMITS = "An agent in this sandbox can use up this machine. `parachute sandbox status` says what the engine holds sandboxes to."
_NO_WAY = frozenset({"EACCES", "EADDRNOTAVAIL", "EAFNOSUPPORT", "EHOSTUNREACH", "ENETDOWN", "ENETUNREACH", "EPERM"})

Compared = tuple[str, str, Finding, str]
"""A row without what the engine says: its name, what was asked, what is found inside, and advice."""


class Inspection(Struct, frozen=True):
    """All that was found; `engine` is what the engine reports, by the names of rows."""

    specification: Specification
    engine: Mapping[str, Finding]
    process: Process
    seen: Findings
    services: Services
    image: Image | None


def rows(inspection: Inspection) -> tuple[Row, ...]:
    """Everything, in the order in which a person reads it."""
    compared = (
        *_sandbox(inspection),
        *_rights(inspection),
        *_network(inspection),
        *_files(inspection),
        *_limits(inspection),
    )
    engine = {**_outside(inspection), **inspection.engine}
    return tuple(
        row_of(name, asked, engine.get(name, SILENT), inside, advice) for name, asked, inside, advice in compared
    )


def _outside(inspection: Inspection) -> dict[str, Finding]:
    """Findings from outside of a sandbox of any engine."""
    process, visited = inspection.process, inspection.services.visited()
    return {
        "system calls": either(process.status.get("Seccomp") == "2", "filtered", "not filtered"),
        "namespaces": either(not process.shared, "its own", f"shares {', '.join(process.shared)}"),
        **{name: either(not came, "nobody came", "somebody came") for name, came in visited.items()},
        "memory dumps": either(process.limits.get("Max core file size") == 0, "none", "written"),
    }


def _sandbox(inspection: Inspection) -> Iterator[Compared]:
    specification, seen, image = inspection.specification, inspection.seen, inspection.image
    yield "specification", "as the server keeps it", SILENT, f"The file was changed. {_MADE_ANEW}"
    is_in_it = all(seen.namespaces.get(name) == inspection.process.namespaces.get(name) for name in NAMESPACES)
    yield "sandbox", specification.engine, either(is_in_it, "in it", "somewhere else"), _MADE_ANEW
    if specification.is_container:
        is_current = image is not None and image.id == specification.image
        recipe = Finding(f"recipe {seen.recipe[:12]}", seen.recipe == image.recipe) if image and is_current else SILENT
        yield "image", specification.image[:12], recipe, _MADE_ANEW


def _rights(inspection: Inspection) -> Iterator[Compared]:
    seen, user = inspection.seen, ":".join(map(str, inspection.seen.user))
    yield "user", "1000:1000", Finding(user, user == "1000:1000"), _OPEN
    yield "capabilities", "none", rights(seen.status), _OPEN
    yield "new rights", "none", either(seen.status.get("NoNewPrivs") == "1", "none", "can be gained"), _OPEN
    yield "system calls", "filtered", either(seen.status.get("Seccomp") == "2", "filtered", "not filtered"), _OPEN
    yield "namespaces", f"its own {', '.join(NAMESPACES)}", SILENT, _OPEN
    first = seen.reads.get("/proc/1/environ", "not tried")
    refused = either(first in ("EACCES", "EPERM"), f"refused ({first})", "readable" if first == "done" else first)
    yield "environment of process 1", "unreadable", refused, _OPEN
    yield "environment", ", ".join(sorted(ENVIRONMENT)), variables(seen.environment), _MADE_ANEW


def _network(inspection: Inspection) -> Iterator[Compared]:
    seen, services = inspection.seen, inspection.services
    there = ", ".join(seen.interfaces) or "no interface"
    yield "network", "none", Finding(there, set(seen.interfaces) <= {"lo"}), _OPEN
    for name, address in services.addresses.items():
        outcome = seen.connects.get(" ".join(map(str, address)), "not tried")
        if name in services.listeners:
            inside = either(outcome not in ("done", "not tried"), f"refused ({outcome})", outcome)
        else:
            inside = either(outcome in _NO_WAY, f"no way there ({outcome})", f"reached ({outcome})")
        yield name, "unreachable", inside, _OPEN
    if NEIGHBOURS not in services.addresses:
        yield NEIGHBOURS, "unreachable", Finding("not tried: this machine has none"), _OPEN
    answers = list(seen.resolves.values()) or ["not tried"]
    resolved = either("done" not in answers, f"no answer ({answers[0]})", "a name server answers")
    yield "names of hosts", "unknown", resolved, _OPEN
    wanted, found = inspection.specification.egress, EGRESS in seen.files
    asked = f"through {EGRESS}, to the hosts that were allowed" if wanted else "none"
    yield "egress", asked, Finding("the socket is there" if found else "no socket", wanted == found), _MADE_ANEW


def _files(inspection: Inspection) -> Iterator[Compared]:
    """The system's files, each mount, the folders in memory, and everything else that can be written."""
    specification, seen = inspection.specification, inspection.seen
    tried = {path: seen.writes.get(path, "not tried") for path in expected.SYSTEM}
    done = [path for path, outcome in tried.items() if outcome == "done"]
    bad = f"{', '.join(done)} can be written" if done else "not tried"
    yield "system files", "read-only", either(not done and "not tried" not in tried.values(), "read-only", bad), _OPEN
    mounts = expected.mounts(specification)
    for mount in mounts:
        yield _mount(mount, seen)
    for path, size in sorted(expected.memory(specification).items()):
        name = f"{path} in memory"
        found = at_most(name, seen.sizes[path], size) if path in seen.sizes else Finding("not there", False)
        yield name, amount(name, size), found, _EXCHANGED
    known = {*expected.SYSTEM, *(mount.target for mount in mounts)}
    writable = {path for path, outcome in seen.writes.items() if outcome == "done"} - known
    others = ", ".join(sorted(path for path in writable if not expected.may_write(specification, path)))
    yield "other places", "none", either(not others, "none can be written", f"{others} can be written"), _OPEN


def _mount(mount: Mount, seen: Findings) -> Compared:
    access, outcome = seen.places.get(mount.target), seen.writes.get(mount.target, "not tried")
    asked = f"{'rw' if mount.writable else 'ro'} {'a view of ' if mount.view else ''}{mount.source}"
    if expected.may_be_missing(mount):
        return mount.target, f"{asked}, left out if it is gone", SILENT, _EXCHANGED
    text = f"{access}, writing: {outcome}"
    if access is None:
        found = Finding("not mounted", False)
    elif not expected.is_identical(mount, seen.files.get(mount.target)):
        found = Finding(f"{access}, but something else", False)
    elif mount.writable:
        found = Finding(text, access == "rw" and outcome != "EROFS")
    else:
        found = Finding(text, access == "ro" and outcome not in ("done", "not tried"))
    return mount.target, asked, found, _OPEN if not mount.writable and outcome == "done" else _EXCHANGED


def _limits(inspection: Inspection) -> Iterator[Compared]:
    specification, seen = inspection.specification, inspection.seen
    yield "memory dumps", "none", either(seen.limits.get("CORE") == 0, "none", "written"), _LIMITS
    bounds = expected.bounds(specification)
    free = f"not bounded{', as the settings say' if specification.is_container else ': bubblewrap cannot'}"
    for row, name in expected.LIMITS.items():
        if row not in bounds:
            yield row, free, SILENT, _LIMITS
            continue
        found = seen.group.get(name) if specification.is_container else seen.limits.get("NPROC")
        yield row, amount(row, bounds[row]), at_most(row, found, bounds[row]), _LIMITS
