"""The Podman engine: one rootless container per session, without network, rights or a file system of its own to write to."""

import csv
import io
import json
import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence

from parachute.errors import InvalidInput, Unavailable
from parachute.image.models import Image
from parachute.sandbox.models import Specification
from parachute.sandbox.places import EGRESS_SOCKET, HOME, PROGRAM, RUNNER, SOCKETS, runner_folder
from parachute.settings.home import Home

LABEL = "org.parachute.installation"
_INTERPRETER = "/usr/bin/python3"
_ENVIRONMENT = {
    "HOME": HOME,
    "LANG": "C.UTF-8",
    "LOGNAME": "agent",
    "PATH": "/usr/local/bin:/usr/bin:/bin",
    "SHELL": "/bin/bash",
    "TMPDIR": "/tmp",  # noqa: S108 - inside the box
    "USER": "agent",
}
_HINT = "Build it again: parachute sandbox build"
_NO_IMAGE = "image not known"
_PROBE_SECONDS = 120.0  # the first start after a build gives every file of the image another owner


def command(specification: Specification, opened: Mapping[str, int]) -> list[str]:
    """The command line that runs the agent runner of one session; file descriptor 3 is its listening socket.

    `opened` maps the target of each mount to a descriptor of its source; a mount without one is left out. The runner sees
    that each target is what was opened before it takes a connection: Podman looks at the paths once more.
    """
    scratch = f"/scratch/{specification.session}"
    arguments = ["podman", "run", "--replace", f"--name={container_name(specification)}", *isolation(specification)]
    for source, target in (
        (str(runner_folder()), RUNNER),
        (specification.program, PROGRAM),
        (specification.sockets, SOCKETS),
    ):
        arguments += mount(source, target, writable=False)
    arguments += mount(specification.transcripts, specification.transcripts_target, writable=True)
    runner = ["--single", "--refuse-calls", "--idle-seconds", str(specification.idle_seconds), "--folder", scratch]
    runner += ["--limits", json.dumps(expected_limits(specification))]
    for each in specification.mounts:
        if each.target in opened:
            arguments += mount(each.source, each.target, writable=each.writable)
            found = os.fstat(opened[each.target])
            access = "rw" if each.writable else "ro"
            runner += ["--mounted", f"{access}:{found.st_dev}:{found.st_ino}:{each.target}"]
    program = [PROGRAM]
    if specification.egress:
        program = [_INTERPRETER, "-IS", f"{RUNNER}/egress_forward.py", f"{SOCKETS}/{EGRESS_SOCKET}", "--", PROGRAM]
    return [*arguments, specification.image, _INTERPRETER, "-IS", f"{RUNNER}/runner.py", *runner, "--", *program]


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
    arguments += [f"--env={name}={value}" for name, value in _ENVIRONMENT.items()]
    folders = (
        *(("/tmp", 256), ("/run", 16), (HOME, 256), (f"{HOME}/.claude", 64)),  # noqa: S108 - inside the box
        ("/scratch", specification.scratch_megabytes),
        ("/dev/shm", 64),  # noqa: S108 - inside the box
    )
    for folder, megabytes in folders:
        # 1777: only root of the container could own them, and nobody but the agent is in there.
        arguments.append(f"--tmpfs={folder}:rw,size={megabytes}m,mode=1777,exec,notmpcopyup")
    arguments.append(f"--tmpfs={HOME}/.claude/projects:rw,size=1m,mode=1777,notmpcopyup")
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
    """What the control group inside has to say; empty where limits are not enforced."""
    if not specification.limits_enforced:
        return {}
    return {
        "memory": specification.memory_megabytes << 20,
        "cpus": specification.cpus,
        "processes": specification.processes,
    }


def mount(source: str, target: str, *, writable: bool) -> list[str]:
    """The arguments for one bind mount, whatever characters are in its names."""
    row = io.StringIO()
    # Podman reads the value as a line of CSV.
    access = "rw" if writable else "ro"
    csv.writer(row).writerow(["type=bind", f"source={source}", f"target={target}", access, "bind-propagation=rprivate"])
    return ["--mount", row.getvalue().removesuffix("\r\n")]


def container_name(specification: Specification) -> str:
    """The container's name; the installation in it keeps two of them from replacing each other's containers."""
    return f"parachute-{specification.installation}-{specification.session}"


def unavailable(trial: Specification | None) -> str | None:
    """Why Podman cannot be used here, as a sentence, or None; `trial` is run to find out, since policies differ.

    Error: Unavailable when it could not be found out: that is no reason to go without a sandbox.
    """
    if os.geteuid() == 0:
        return "Containers of agents are never started by root."
    if not shutil.which("podman"):
        return "Podman is not installed."
    if trial is None:
        return "There is no image for containers yet; `parachute sandbox build` makes it."
    try:
        attempt(trial)
    except InvalidInput as error:
        return error.message
    return None


def image_of(home: Home) -> Image | None:
    """The image that was built; None also for a record that cannot be read, which counts as none."""
    try:
        return Image.load(home.root)
    except InvalidInput:
        return None


def attempt(trial: Specification) -> None:
    """Run a container and look from inside whether it is shut in as was asked.

    Errors: InvalidInput with what differs, Unavailable when it could not be found out. Waits; not for the event loop.
    """
    probe = [_INTERPRETER, "-IS", f"{RUNNER}/probe.py", "--limits", json.dumps(expected_limits(trial))]
    program = ["podman", "run", *isolation(trial, log="none"), *mount(str(runner_folder()), RUNNER, writable=False)]
    try:
        done = subprocess.run(
            [*program, trial.image, *probe], capture_output=True, text=True, timeout=_PROBE_SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Unavailable(
            f"It cannot be told whether Podman works: {error}.", "Try again.", key="no_sandbox"
        ) from error
    if _NO_IMAGE in done.stderr:
        raise InvalidInput("The image for containers is gone; `parachute sandbox build` makes it again.")
    if done.returncode != 0:
        said = done.stdout.strip() or " / ".join(done.stderr.splitlines()[-3:])
        raise InvalidInput(f"Podman may not be used here: {said[-400:] or 'it did not say why'}.", _HINT)


def remove_all(installation: str) -> None:
    """End the containers that an earlier core of this installation left; waits."""
    names: Sequence[str] = ["podman", "ps", "--all", "--quiet", f"--filter=label={LABEL}={installation}"]
    try:
        found = subprocess.run(names, capture_output=True, text=True, timeout=60, check=False).stdout.split()
        if found:
            subprocess.run(
                ["podman", "rm", "--force", "--time=0", *found], capture_output=True, timeout=60, check=False
            )
    except (OSError, subprocess.TimeoutExpired):
        pass  # what is left is replaced by the next container of the same session


def remove(specification: Specification) -> None:
    """Remove what may be left of a session's container that has ended; waits."""
    # Not by force: meanwhile the session may have another one, which runs.
    names = ["podman", "rm", "--ignore", container_name(specification)]
    try:
        subprocess.run(names, capture_output=True, timeout=60, check=False)
    except (OSError, subprocess.TimeoutExpired):
        pass  # the next container of this session replaces it, and the next core removes it


def version() -> str | None:
    """Podman's own version, or None where it is not installed."""
    try:
        done = subprocess.run(["podman", "--version"], capture_output=True, text=True, timeout=30, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.split()[-1] if done.returncode == 0 and done.stdout.split() else None
