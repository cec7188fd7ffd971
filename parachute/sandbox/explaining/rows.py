"""One row for each thing that a box was asked to be: who runs in it, what it can reach, and how much it may use."""

import os
from collections.abc import Iterator
from dataclasses import dataclass

from parachute.image.models import Image
from parachute.sandbox import bubblewrap
from parachute.sandbox.explaining.asked import Asked
from parachute.sandbox.explaining.file_rows import file_rows
from parachute.sandbox.explaining.kernel import NAMESPACES, Process, rights
from parachute.sandbox.explaining.models import SILENT, Row, Said
from parachute.sandbox.explaining.seen import Seen
from parachute.sandbox.explaining.services import Services
from parachute.sandbox.explaining.views import View, interfaces, megabytes, names, variables
from parachute.sandbox.places import EGRESS_SOCKET, SOCKETS

OPEN = "An agent in this box can do more than it may. Stop all agents (`parachute panic`) and look into the engine before they go on."
MADE_ANEW = "Restart the computer, so that the box is made anew: parachute restart"
LIMITS = "An agent in this box can use up this machine. `parachute sandbox status` says what the engine holds boxes to."

_NO_WAY = frozenset({"EACCES", "EADDRNOTAVAIL", "EAFNOSUPPORT", "EHOSTUNREACH", "ENETDOWN", "ENETUNREACH", "EPERM"})


@dataclass(frozen=True, slots=True)
class Look:
    """All that was found in one look: by the engine, the kernel, from inside, and by whom our services were visited."""

    asked: Asked
    view: View
    process: Process
    seen: Seen
    services: Services
    visited: tuple[bool, bool]
    image: Image | None
    changed: tuple[str, ...]


def rows(look: Look) -> tuple[Row, ...]:
    """Everything, in the order in which a person reads it."""
    return (*_box(look), *_rights(look), *_network(look), *file_rows(look.asked, look.view, look.seen), *_limits(look))


def _box(look: Look) -> Iterator[Row]:
    specification, view, process = look.asked.specification, look.view, look.process
    changed = Said(f"the file says otherwise: {', '.join(look.changed)}", False) if look.changed else Said("the same")
    yield Row("specification", "as core keeps it", changed, SILENT, f"Somebody changed the file. {MADE_ANEW}")
    namespaces = {name: process.namespaces[name] for name in NAMESPACES}
    same = all(look.seen.namespaces.get(name) == text for name, text in namespaces.items())
    inside = Said("in it") if same else Said("somewhere else", False)
    yield Row("box", specification.engine, view.box(), inside, MADE_ANEW)
    if look.asked.is_container:
        recipe = SILENT
        if look.image and look.image.id == specification.image:
            recipe = Said(f"recipe {look.seen.recipe[:12]}", look.seen.recipe == look.image.recipe)
        yield Row("image", specification.image[:12], view.image(), recipe, MADE_ANEW)


def _rights(look: Look) -> Iterator[Row]:
    view, seen = look.view, look.seen
    user = ":".join(map(str, seen.user))
    yield Row("user", "1000:1000", view.user(), Said(user, user == "1000:1000"), OPEN)
    yield Row("capabilities", "none", view.rights(), names(rights(seen.status)), OPEN)
    gained = Said("none") if seen.status.get("NoNewPrivs") == "1" else Said("can be gained", False)
    yield Row("new rights", "none", view.new_rights(), gained, OPEN)
    if look.asked.is_filtered:
        modes = [Said("filtered", True) if text == "2" else Said("not filtered", False) for text in _seccomp(look)]
        yield Row("system calls", "filtered", modes[0], modes[1], OPEN)
    shared = look.process.shared
    own = Said(f"shares {', '.join(shared)}", False) if shared else Said("its own")
    yield Row("namespaces", f"its own {', '.join(NAMESPACES)}", own, SILENT, OPEN)
    environ = seen.reads.get("/proc/1/environ", "not tried")
    first = (
        Said(f"refused ({environ})", environ in ("EACCES", "EPERM")) if environ != "done" else Said("readable", False)
    )
    yield Row("environment of process 1", "unreadable", SILENT, first, OPEN)
    asked = look.asked.environment
    yield Row(
        "environment", ", ".join(sorted(asked)), view.environment(), variables(seen.environment, asked), MADE_ANEW
    )


def _seccomp(look: Look) -> tuple[str | None, str | None]:
    return look.process.status.get("Seccomp"), look.seen.status.get("Seccomp")


def _network(look: Look) -> Iterator[Row]:
    seen, services = look.seen, look.services
    there = ", ".join(seen.interfaces) or "no interface"
    engine = look.view.network()
    kernel = interfaces(look.process)
    if engine.agrees and not kernel.agrees:
        engine = Said(f"{engine.text}, but the kernel: {kernel.text}", False)
    yield Row("network", "none", engine, Said(there, set(seen.interfaces) <= {"lo"}), OPEN)
    for name, attempt, visited in (
        ("127.0.0.1 of this machine", services.loopback, look.visited[0]),
        ("abstract sockets of this machine", services.abstract, look.visited[1]),
    ):
        outcome = _outcome(seen, attempt)
        outside = Said("somebody came", False) if visited else Said("nobody came")
        refused = outcome not in ("done", "not tried")
        yield Row(name, "unreachable", outside, Said(f"refused ({outcome})" if refused else outcome, refused), OPEN)
    for attempt in services.outward:
        outcome = _outcome(seen, attempt)
        name = "the local network" if attempt[0] == "tcp" else "the internet"
        yield Row(name, "unreachable", SILENT, Said(_way(outcome), outcome in _NO_WAY), OPEN)
    if not services.outward:
        yield Row("the local network", "unreachable", SILENT, Said("not tried: this machine has none"), OPEN)
    answers = list(seen.resolves.values()) or ["not tried"]
    resolves = Said(f"no answer ({answers[0]})") if "done" not in answers else Said("a name server answers", False)
    yield Row("names of hosts", "unknown", SILENT, resolves, OPEN)
    egress = f"{SOCKETS}/{EGRESS_SOCKET}"
    wanted, found = look.asked.specification.egress, egress in seen.files
    asked = f"through {egress}, to the hosts that were allowed" if wanted else "none"
    inside = "the socket is there" if found else "no socket"
    yield Row("egress", asked, SILENT, Said(inside, wanted == found), MADE_ANEW)


def _limits(look: Look) -> Iterator[Row]:
    specification, view, seen = look.asked.specification, look.view, look.seen
    core = look.process.limits.get("Max core file size")
    sides = [Said("none") if size == 0 else Said("written", False) for size in (core, seen.limits.get("CORE"))]
    yield Row("memory dumps", "none", sides[0], sides[1], LIMITS)
    if not look.asked.is_container:
        free = "not bounded: bubblewrap cannot"
        yield Row("memory", free, SILENT, SILENT, LIMITS)
        yield Row("processors", free, SILENT, SILENT, LIMITS)
        if bubblewrap.counts_processes_by_namespace(os.uname().release):
            inside = _at_most(seen.limits.get("NPROC"), specification.processes, f"{seen.limits.get('NPROC')}")
            engine = view.processes(specification.processes)
            yield Row("processes", str(specification.processes), engine, inside, LIMITS)
        return
    if not specification.limits_enforced:
        for name in ("memory", "processors", "processes"):
            yield Row(name, "not bounded, as the settings say", SILENT, SILENT, LIMITS)
        return
    size, group = specification.memory_megabytes << 20, seen.group
    memory = group.get("memory")
    inside = _at_most(memory, size * 1.01, megabytes(memory or 0))
    yield Row("memory", megabytes(size), view.memory(size), inside, LIMITS)
    inside = _at_most(group.get("cpus"), specification.cpus * 1.01, f"{group.get('cpus') or 0:g}")
    yield Row("processors", f"{specification.cpus:g}", view.processors(specification.cpus), inside, LIMITS)
    inside = _at_most(group.get("processes"), specification.processes, f"{group.get('processes') or 0:g}")
    yield Row("processes", str(specification.processes), view.processes(specification.processes), inside, LIMITS)


def _at_most(found: float | None, bound: float, text: str) -> Said:
    if found is None or found < 0:  # -1 is RLIM_INFINITY
        return Said("not bounded", False)
    return Said(text, found <= bound)


def _outcome(seen: Seen, attempt: tuple[str, str, int]) -> str:
    return seen.connects.get(" ".join(map(str, attempt)), "not tried")


def _way(outcome: str) -> str:
    return f"no way there ({outcome})" if outcome in _NO_WAY else f"reached ({outcome})"
