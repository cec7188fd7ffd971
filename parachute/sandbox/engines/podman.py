"""The Podman engine: one rootless container per session, without network, rights or a file system of its own to write to."""

import csv
import io
import json
import os
from collections.abc import Mapping
from pathlib import Path

from parachute.sandbox.engines.models import Mount, Specification
from parachute.sandbox.engines.views import View
from parachute.sandbox.layout import ENVIRONMENT, RUNNER, scratch

LABEL = "org.parachute.installation"
INTERPRETER = "/usr/bin/python3"


def command(specification: Specification, opened: Mapping[str, int]) -> list[str]:
    """The command line that runs the agent runner of one session; file descriptor 3 is its listening socket.

    `opened` maps the target of each mount to a descriptor of its source; a mount without one is left out. The runner sees
    that each target is what was opened before it takes a connection: Podman resolves the paths once more.
    """
    arguments = ["podman", "run", "--replace", f"--name={container_name(specification)}", *isolation(specification)]
    for own in specification.runtime_mounts:
        arguments += mount(own.source, own.target, writable=False)
    runner = ["--single", "--refuse-calls", "--idle-seconds", str(specification.idle_seconds)]
    runner += ["--folder", scratch(specification.session)]
    runner += ["--limits", json.dumps(expected_limits(specification))]
    for each in (*specification.kept_mounts, *specification.mounts):
        if each.target in opened:
            arguments += mounted(each)
            found = os.fstat(opened[each.target])
            access = "view" if each.view else "rw" if each.writable else "ro"
            runner += ["--mounted", f"{access}:{found.st_dev}:{found.st_ino}:{each.target}"]
    program = specification.agent_command(INTERPRETER)
    return [*arguments, specification.image, INTERPRETER, "-IS", f"{RUNNER}/runner.py", *runner, "--", *program]


def interactive(specification: Specification) -> list[str]:
    """The beginning of a command line that runs something with our own standard streams in a container."""
    return ["podman", "run", "--interactive", *isolation(specification, log="none")]


def isolation(specification: Specification, log: str = "passthrough") -> list[str]:
    """Everything that shuts a container in; the same for a session, a shell and the trial of an image."""
    arguments = [
        "--rm",
        "--pull=never",
        f"--label={LABEL}={specification.installation}",
        "--network=none",
        "--no-hosts",
        "--hostname=parachute",
        "--http-proxy=false",
        "--read-only",
        "--read-only-tmpfs=false",
        "--cap-drop=all",
        "--security-opt=no-new-privileges",
        # The user inside is the owner of the vault outside, so that a new file in a project belongs to them.
        "--userns=keep-id:uid=1000,gid=1000",
        "--user=1000:1000",
        "--passwd=false",
        "--ipc=private",
        "--uts=private",
        # The limits that the launcher has set for itself.
        "--ulimit=host",
        "--unsetenv-all",
        "--workdir=/",
        f"--log-driver={log}",
        "--sdnotify=ignore",
    ]
    arguments += [f"--env={name}={value}" for name, value in ENVIRONMENT.items()]
    for place in specification.memory:
        # 1777: only root of the container could own them, and nobody but the agent is in there.
        options = f"rw,size={place.megabytes}m,mode=1777,{'exec,' if place.executable else ''}notmpcopyup"
        arguments.append(f"--tmpfs={place.path}:{options}")
    if not specification.limits_enforced:
        return [*arguments, "--pids-limit=0"]
    return [
        *arguments,
        f"--memory={specification.memory_megabytes}m",
        f"--memory-swap={specification.memory_megabytes}m",  # together with memory: none of it is swap
        f"--cpus={specification.cpus:g}",
        f"--pids-limit={specification.processes}",
    ]


def expected_limits(specification: Specification) -> dict[str, int | float]:
    """Limits that the control group inside has to have; empty where limits are not enforced."""
    if not specification.limits_enforced:
        return {}
    return {
        "memory": specification.memory_megabytes << 20,
        "cpus": specification.cpus,
        "processes": specification.processes,
    }


def mounted(given: Mount) -> list[str]:
    """The arguments for a mount of a specification."""
    if not given.view:
        return mount(given.source, given.target, writable=given.writable)
    view = View(Path(given.view), given.part)
    return ["--volume", f"{given.source}:{given.target}:O,upperdir={view.upper},workdir={view.work}"]


def can_be_viewed(*paths: object) -> bool:
    """True for paths of which Podman can mount a view: in others it would take signs for the ends of options."""
    return not any(sign in str(path) for path in paths for sign in ",:\\")


def mount(source: str, target: str, *, writable: bool) -> list[str]:
    """The arguments for one bind mount, whatever characters are in its names."""
    row = io.StringIO()
    # Podman reads the value as a line of CSV.
    access = "rw" if writable else "ro"
    csv.writer(row).writerow(["type=bind", f"source={source}", f"target={target}", access, "bind-propagation=rprivate"])
    return ["--mount", row.getvalue().removesuffix("\r\n")]


def container_name(specification: Specification) -> str:
    """The container's name; the installation in it keeps two of them from replacing each other's containers."""
    return f"{name_prefix(specification.installation)}{specification.session}"


def name_prefix(installation: str) -> str:
    """The beginning of the names of an installation's containers; the session's id follows."""
    return f"parachute-{installation}-"
