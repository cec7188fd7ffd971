"""`python -m parachute.ops.rehearsal.trial PLAN`: enters the namespaces of a plan, and checks the new version there.

Everything of this machine can be read in there, and nothing but copies can be written. There is no network. On standard output
is a line of JSON for each thing to say.
"""

import ctypes
import os
import sys
from pathlib import Path
from typing import Any, NoReturn

import msgspec
from parachute_runner import processes

from parachute.base.errors import ParachuteError
from parachute.ops.rehearsal.checking import Checking
from parachute.ops.rehearsal.models import Check
from parachute.ops.rehearsal.plan import Plan
from parachute.sandbox.engines import bubblewrap, views

HIDDEN = ("/tmp", "/run", "/var/tmp")  # noqa: S108 - sockets of other programs lie there
_NEEDED = ("/run/current-system", "/run/booted-system", "/run/wrappers")
"""Of NixOS, where programs are found by these names."""

_DEVICES = ("full", "null", "random", "tty", "urandom", "zero")
_STREAMS = {"fd": "", "stdin": "/0", "stdout": "/1", "stderr": "/2"}
_NOSUID, _NODEV, _NOEXEC = 2, 4, 8  # sys/mount.h

_NAMESPACES = [
    *("--unshare-user", "--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts", "--unshare-cgroup-try"),
    "--die-with-parent",
    "--new-session",
    # To mount /proc, and no longer: what is checked never has it.
    *("--cap-add", "CAP_SYS_ADMIN"),
]
_INSIDE = "--inside"


def main() -> int:
    """Enter the namespaces, and run the checks in them; 1 with a sentence on standard error where that is not possible."""
    processes.end_with_parent()
    try:
        plan = Plan.read(Path(sys.argv[1]))
        if sys.argv[2:] != [_INSIDE]:
            _enter(plan)
        _mount_proc()
        # The mounts are locked for a user namespace further down: from here on nobody has more rights than the owner has.
        views.enter_namespace()
        reason = bubblewrap.unavailable()
        _say(impossible=reason)
        if reason is not None:
            return 0
        try:
            Checking(plan, lambda check: _say(check=check), lambda text: _say(change=text)).run()
        except OSError as error:
            sentence = f"The rehearsal was broken off: {error.strerror or error}."
            _say(check=Check("rehearsal", False, sentence, "Look at the disk: `parachute doctor disk-space`."))
    except (ParachuteError, OSError, ValueError) as error:
        print(error, file=sys.stderr)  # noqa: T201
        return 1
    _say(done=True)
    return 0


def _say(**document: Any) -> None:
    print(msgspec.json.encode(document).decode(), flush=True)  # noqa: T201 - whoever started this reads it


def _enter(plan: Plan) -> NoReturn:
    """Replace this process by itself in the namespaces; errors: InvalidInput, OSError."""
    if plan.views:
        views.enter_namespace()
    mounted = [(str(views.opened(folder, view)), folder) for folder, view in plan.views]
    options = ["bwrap", *_NAMESPACES, "--ro-bind", "/", "/", *_devices()]
    for folder in HIDDEN:
        if Path(folder).is_dir() and not Path(folder).is_symlink():
            options += ["--tmpfs", folder]
    for folder in (*_NEEDED, *plan.shown):
        options += ["--ro-bind-try", folder, folder]
    for source, target in plan.binds:
        options += ["--bind", source, target]
    for descriptor, target in mounted:
        options += ["--bind-fd", descriptor, target]
    for path in plan.masked:
        options += ["--ro-bind", "/dev/null", path]
    own = [sys.executable, "-m", "parachute.ops.rehearsal.trial", sys.argv[1], _INSIDE]
    os.chdir("/")
    os.execvp("bwrap", [*options, "--chdir", "/", "--", *own])  # noqa: S606 - the arguments are a list of our own


def _devices() -> list[str]:
    """A few devices; with bubblewrap's own /dev the rehearsal would have no rights over these mounts."""
    options = ["--tmpfs", "/dev"]
    for name in _DEVICES:
        options += ["--dev-bind", f"/dev/{name}", f"/dev/{name}"]
    for name, number in _STREAMS.items():
        options += ["--symlink", f"/proc/self/fd{number}", f"/dev/{name}"]
    return [*options, "--dir", "/dev/shm"]  # noqa: S108


def _mount_proc() -> None:
    """Show the processes of this namespace; bubblewrap would cover parts of it for root, and then no sandbox starts in it."""
    library = ctypes.CDLL(None, use_errno=True)
    if library.mount(b"proc", b"/proc", b"proc", _NOSUID | _NODEV | _NOEXEC, None) != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"/proc cannot be mounted: {os.strerror(number)}")


if __name__ == "__main__":
    sys.exit(main())
