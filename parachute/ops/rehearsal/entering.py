"""`python -m parachute.ops.rehearsal.entering PLAN`: mounts what a plan says in namespaces of its own, and runs the rehearsal there.

Everything of this machine can be read in there, and nothing but copies can be written. There is no network.
"""

import os
import sys
from pathlib import Path

from parachute_runner import processes

from parachute.base.errors import ParachuteError
from parachute.ops.rehearsal.plan import Plan
from parachute.sandbox.engines import views

HIDDEN = ("/tmp", "/run", "/var/tmp")  # noqa: S108 - sockets of other programs lie there
_NEEDED = ("/run/current-system", "/run/booted-system", "/run/wrappers")
"""Of NixOS, where programs are found by these names."""

_DEVICES = ("full", "null", "random", "tty", "urandom", "zero")
_STREAMS = {"fd": "", "stdin": "/0", "stdout": "/1", "stderr": "/2"}

_NAMESPACES = [
    *("--unshare-user", "--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts", "--unshare-cgroup-try"),
    "--die-with-parent",
    "--new-session",
    # For the rehearsal, which mounts its own /proc and reads what memory its processes take; the new version gets none of them.
    *("--cap-add", "ALL"),
]


def main() -> None:
    """Replace this process by the rehearsal; error: a sentence, and the code 1."""
    processes.end_with_parent()
    path = sys.argv[1]
    try:
        plan = Plan.read(Path(path))
        if plan.views:
            views.enter_namespace()
        mounted = [(views.opened(source, view), source) for source, view in plan.views]
        command = [*_options(plan, mounted), "--", sys.executable, "-m", "parachute.ops.rehearsal.inside", path]
        os.chdir("/")
        os.execvp(command[0], command)  # noqa: S606 - the arguments are a list of our own
    except (ParachuteError, OSError, ValueError, TypeError) as error:
        sys.exit(f"The namespace of the rehearsal cannot be entered: {error}")


def _options(plan: Plan, mounted: list[tuple[int, str]]) -> list[str]:
    options = ["bwrap", *_NAMESPACES, "--ro-bind", "/", "/", *_devices()]
    for folder in HIDDEN:
        if Path(folder).is_dir() and not Path(folder).is_symlink():
            options += ["--tmpfs", folder]
    for folder in (*_NEEDED, *plan.shown):
        options += ["--ro-bind-try", folder, folder]
    for source, target in plan.binds:
        options += ["--bind", source, target]
    for descriptor, target in mounted:
        options += ["--bind-fd", str(descriptor), target]
    for path in plan.masked:
        options += ["--ro-bind", "/dev/null", path]
    return [*options, "--chdir", "/"]


def _devices() -> list[str]:
    """A few devices; with bubblewrap's own /dev the rehearsal would have no rights over these mounts."""
    options = ["--tmpfs", "/dev"]
    for name in _DEVICES:
        options += ["--dev-bind", f"/dev/{name}", f"/dev/{name}"]
    for name, number in _STREAMS.items():
        options += ["--symlink", f"/proc/self/fd{number}", f"/dev/{name}"]
    return [*options, "--dir", "/dev/shm"]  # noqa: S108


if __name__ == "__main__":
    main()
