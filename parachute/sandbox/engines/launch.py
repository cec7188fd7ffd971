"""Started for one sandbox by its socket: reads the specification and becomes the engine (`python -m parachute.sandbox.engines.launch ID`)."""

import contextlib
import ctypes
import os
import resource
import signal
import sys
import time
from typing import NoReturn

from parachute_runner import processes

from parachute.base.errors import InvalidInput, ParachuteError
from parachute.config.settings.home import Home
from parachute.sandbox.engines import views
from parachute.sandbox.engines.models import Specification
from parachute.sandbox.engines.opened import open_mounts
from parachute.sandbox.engines.protected import protected
from parachute.security.kill_switch.switch import KillSwitch

_OPEN_FILES = 10_000
_FILE_SIZE = 4 << 30
_REMOVAL_SECONDS = 3.0
_KEYCTL = {"x86_64": 250, "aarch64": 219}  # asm/unistd.h
_KEYCTL_JOIN_SESSION_KEYRING = 1  # linux/keyctl.h


def main() -> None:
    """Replace this process by the sandbox; the listening socket stays file descriptor 3."""
    try:
        home = Home.find()
        KillSwitch(home.root).check()
        specification = protected(Specification.load(home.sandboxes, sys.argv[1]))
        if specification.has_view and not specification.is_container:
            views.enter_namespace()
        opened = open_mounts(specification)
        # Each engine is imported for its own sandboxes only: somebody waits for this one.
        if specification.engine == "podman":
            from parachute.sandbox.engines import podman

            start_container(podman.command(specification, opened))
        if specification.engine != "bubblewrap":
            raise InvalidInput(f"There is no engine {specification.engine!r}.", key="unknown_engine")
        from parachute.sandbox.engines import bubblewrap

        command = bubblewrap.command(specification, opened)
    except (ParachuteError, OSError, IndexError) as error:
        sys.exit(f"This sandbox cannot be started: {error}")
    become(command)


def start_container(command: list[str]) -> NoReturn:
    """Replace this process by Podman under systemd; elsewhere become the one that ends with it all that it started.

    A container has a monitor that leaves Podman's family. systemd ends the unit's control group; where there is none, we
    adopt what was left behind.
    """
    # Set for the main process of a unit, and inherited by others: those have no control group of their own.
    if os.environ.get("SYSTEMD_EXEC_PID") == str(os.getpid()):
        command.insert(2, "--cgroups=split")
        become(command, listening=True)
    processes.adopt_orphans()
    child = os.fork()
    if child == 0:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        processes.end_with_parent(signal.SIGTERM)
        become(command, listening=True)
    os.closerange(3, os.sysconf("SC_OPEN_MAX"))
    signal.signal(signal.SIGTERM, lambda *_: processes.kill([child], signal.SIGTERM))
    status = os.waitpid(child, 0)[1]
    # Podman's own children remove the container now; what they cannot end in this time is ended by us.
    deadline = time.monotonic() + _REMOVAL_SECONDS
    with contextlib.suppress(ChildProcessError):
        while time.monotonic() < deadline:
            if os.waitpid(-1, os.WNOHANG)[0] == 0:
                time.sleep(0.02)
    processes.end_all(whole_namespace=False)
    code = os.waitstatus_to_exitcode(status)
    sys.exit(code if code >= 0 else 128 - code)


def become(command: list[str], *, listening: bool = False) -> NoReturn:
    """Replace this process by a sandbox, within limits and without the keys of the owner's login session.

    `listening`: file descriptor 3 is meant for the program, as in sd_listen_fds(3).
    """
    for limit, value in (
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_NOFILE, _OPEN_FILES),
        (resource.RLIMIT_FSIZE, _FILE_SIZE),
    ):
        hard = resource.getrlimit(limit)[1]
        if hard != resource.RLIM_INFINITY:
            value = min(value, hard)
        resource.setrlimit(limit, (value, value))
    if number := _KEYCTL.get(os.uname().machine):
        # No namespace separates the keys of the owner's login session from the agent: leave them behind.
        ctypes.CDLL(None).syscall(number, _KEYCTL_JOIN_SESSION_KEYRING, None)
    os.set_inheritable(3, True)
    if listening:
        os.environ.update(LISTEN_PID=str(os.getpid()), LISTEN_FDS="1")
        os.environ.pop("LISTEN_FDNAMES", None)
    try:
        os.execvp(command[0], command)  # noqa: S606 - the arguments are a list of our own
    except OSError as error:
        print(f"{command[0]} cannot be started: {error.strerror}.", file=sys.stderr)  # noqa: T201 - kept by the supervisor
        sys.exit(127)


if __name__ == "__main__":
    main()
