"""The engine's report on a sandbox, by the names of rows: Podman's record, or for bubblewrap, which keeps none, the kernel."""

import json
import re
import subprocess
from collections.abc import Collection, Mapping
from pathlib import PurePosixPath
from typing import Any

from parachute.base.errors import Unavailable
from parachute.sandbox.engines import podman
from parachute.sandbox.engines.inspection import expected
from parachute.sandbox.engines.inspection.kernel import Process
from parachute.sandbox.engines.inspection.models import Finding, at_most, either, nothing
from parachute.sandbox.engines.models import Mount, Specification
from parachute.sandbox.layout import ENVIRONMENT
from parachute.supervisor.command_runner.starting import outside

_SECONDS, _LIMIT = 60, 1 << 20
_ADDED = frozenset(
    ("HOSTNAME", "LC_CTYPE", "LISTEN_FDNAMES", "LISTEN_FDS", "LISTEN_PID", "OLDPWD", "PWD", "SHLVL", "TERM", "_")
) | {"container"}
"""Variables that engines and programs add of their own."""


def of_kernel(specification: Specification, process: Process) -> dict[str, Finding]:
    """The kernel's report on a process in a sandbox of bubblewrap."""
    users, places = process.status.get("Uid", "").split(), process.places
    limits = {"processes": process.limits.get("Max processes")}
    return {
        "sandbox": Finding(f"process {process.parent}"),
        "user": Finding(f"{' '.join(users)} outside", len(set(users)) == 1),
        "capabilities": rights(process.status),
        "new rights": either(process.status.get("NoNewPrivs") == "1", "none", "can be gained"),
        "network": interfaces(process),
        "system files": either(not places.get("/", True), "read-only", "writable"),
        "other places": nothing(sorted(place for place in places if not expected.is_mounted(specification, place))),
        **{each.target: access(places.get(each.target), each.writable) for each in _present(specification)},
        **_bounded(expected.memory(specification), process.sizes, " in memory"),
        **_bounded(expected.bounds(specification), limits),
    }


def of_podman(specification: Specification, process: Process, record: Mapping[str, Any]) -> dict[str, Finding]:
    """Podman's record of a container; whatever is not in it counts as not done."""
    host, config, state = (_mapping(record, name) for name in ("HostConfig", "Config", "State"))
    sandbox = f"container {str(record.get('Id'))[:12]}, {state.get('Status')}, process {state.get('Pid')}"
    other = f"{sandbox}, but the one that answers belongs to process {process.parent}"
    image, user = str(record.get("Image")).removeprefix("sha256:"), str(config.get("User"))
    given = {str(each) for name in ("EffectiveCaps", "BoundingCaps") for each in record.get(name) or ()}
    options = [str(option) for option in host.get("SecurityOpt") or ()]
    network, kernel = Finding(str(host.get("NetworkMode")), host.get("NetworkMode") == "none"), interfaces(process)
    if network.agrees and not kernel.agrees:
        network = Finding(f"{network.text}, but the kernel: {kernel.text}", False)
    found = [each for each in record.get("Mounts") or () if isinstance(each, Mapping) and each.get("Type") != "tmpfs"]
    mounted = {str(each.get("Destination")): each for each in found}
    asked, folders = expected.mounts(specification), expected.memory(specification)
    sizes = {path: _size(str(options)) for path, options in _mapping(host, "Tmpfs").items() if path in folders}
    nano, swap = host.get("NanoCpus"), host.get("MemorySwap")
    limits = {
        "memory": host.get("Memory") if swap == host.get("Memory") else None,
        "processors": nano / 1e9 if isinstance(nano, int) else None,
        "processes": host.get("PidsLimit"),
    }
    return {
        "sandbox": either(state.get("Pid") == process.parent, sandbox, other),
        "image": Finding(image[:12], image == specification.image),
        "user": Finding(user, user == "1000:1000"),
        "capabilities": nothing(sorted({"privileged"} if host.get("Privileged") else given)),
        "new rights": Finding(
            ", ".join(options) or "none are set", any("no-new-privileges" in each for each in options)
        ),
        "network": network,
        "system files": either(host.get("ReadonlyRootfs") is True, "read-only", "writable"),
        "environment": variables([str(each).partition("=")[0] for each in config.get("Env") or ()]),
        "other places": nothing(sorted(mounted.keys() - {each.target for each in asked} - folders.keys())),
        **{each.target: _mount(mounted.get(each.target), each) for each in _present(specification)},
        **_bounded({path: folders[path] for path in sizes}, sizes, " in memory"),
        **_bounded(expected.bounds(specification), limits),
    }


def record(specification: Specification) -> dict[str, Any]:
    """Podman's record of a session's container, empty without one; error: Unavailable. Waits."""
    command = outside(["podman", "container", "inspect", podman.container_name(specification)], leaves=True)
    try:
        done = subprocess.run(command, capture_output=True, timeout=_SECONDS, check=False)
        found = json.loads(done.stdout[:_LIMIT] or b"[]")
    except (OSError, ValueError, RecursionError, subprocess.TimeoutExpired) as error:
        raise Unavailable(
            f"Podman gave no details of the container: {error}.", "Try again.", key="container_unknown"
        ) from error
    first = found[0] if isinstance(found, list) and found else {}
    return first if isinstance(first, dict) else {}


def rights(status: Mapping[str, str]) -> Finding:
    """The sets of rights that are not empty."""
    return nothing(f"{name}={status.get(name)}" for name in expected.NO_RIGHTS if status.get(name, "1").strip("0"))


def interfaces(process: Process) -> Finding:
    """The network of a process."""
    found = ", ".join(process.interfaces) or "no interface"
    if "net" in process.shared:
        return Finding(f"this machine's own ({found})", False)
    return Finding(found, set(process.interfaces) <= {"lo"})


def variables(found: Collection[str]) -> Finding:
    """Names of variables, without those that are always added."""
    seen = frozenset(found) - _ADDED
    return Finding(", ".join(sorted(seen)), seen == ENVIRONMENT.keys())


def access(writable: bool | None, asked: bool) -> Finding:
    """The access of a mount; None for one that is not there."""
    return Finding("not mounted" if writable is None else "rw" if writable else "ro", writable == asked)


def _bounded(asked: Mapping[str, float], found: Mapping[str, Any], ending: str = "") -> dict[str, Finding]:
    return {name + ending: at_most(name + ending, found.get(name), bound) for name, bound in asked.items()}


def _present(specification: Specification) -> list[Mount]:
    return [mount for mount in expected.mounts(specification) if not expected.may_be_missing(mount)]


def _mount(found: Mapping[str, Any] | None, asked: Mount) -> Finding:
    said = access(None if found is None else bool(found.get("RW")), asked.writable)
    if asked.view and found is not None:
        # Podman names the overlay that it has mounted itself, by the folder of the container.
        is_overlay = PurePosixPath(str(found.get("Source"))).match("overlay-containers/*/userdata/overlay/*/merge")
        return said if is_overlay else Finding(f"{said.text} {found.get('Source')}", False)
    if found is not None and PurePosixPath(str(found.get("Source"))) != PurePosixPath(asked.source):
        return Finding(f"{said.text} {found.get('Source')}", False)
    return said


def _size(options: str) -> int | None:
    """The bytes in the options of a folder in memory, which Podman records as it was asked."""
    found = re.search(r"(?:^|,)size=(\d+)m(?:,|$)", options)
    return int(found[1]) << 20 if found else None


def _mapping(value: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    found = value.get(name)
    return found if isinstance(found, Mapping) else {}
