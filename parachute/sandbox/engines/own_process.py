"""The bubblewrap sandbox of a process of this computer's own that holds something of others: a module, a messenger's library."""

import fcntl
import os
from collections.abc import Iterable, Sequence
from importlib.util import find_spec

from parachute.base.errors import NotFound
from parachute.sandbox.engines.bubblewrap import ISOLATION, interpreter, kernel_files, memory_folder, system_files

LIBRARIES = "/opt/parachute/lib"
FIRST_FREE = 20
"""The lowest descriptor that a sandbox's own folders may have: those below are passed on, or are the pipe's."""

_PIPE_OUT, _PIPE_IN = 8, 9  # a shell knows descriptors of one digit only
# bubblewrap passes no signal on: without this the sandbox would be killed, and the process in the middle of what it does. A shell,
# since it stays for as long as that does and takes less than a megabyte. The pipe stays open: bubblewrap writes on after
# the line that is looked for. The signal is repeated, since the first process of a namespace does not get the one that comes
# before it has asked for it.
_FORWARD = f"""
bwrap "$@" {_PIPE_OUT}<&- &
sandbox=$!
exec {_PIPE_IN}>&-
while read -r name value; do
    case $name in '"child-pid":') host=${{value%,}}; break;; esac
done <&{_PIPE_OUT}
trap 'while kill -TERM "$host" 2>/dev/null; do sleep 0.1; done &' TERM INT
while :; do
    wait "$sandbox"
    code=$?
    kill -0 "$sandbox" 2>/dev/null || exit "$code"
done
"""


def command(
    mounts: Sequence[str],
    packages: Iterable[str],
    program: str,
    arguments: Sequence[str],
    *,
    root: str,
    folder: str,
    paths: Sequence[str] = (),
) -> list[str]:
    """The command line of a Python module of ours in a sandbox; descriptor 3 is its listening socket.

    `mounts` are further options of bubblewrap. It sees the `packages` of its imports, `root` is named as the state directory, of
    which it sees what is mounted, and `folder` is where it starts. Python looks into `paths` last. A pipe on descriptors 8 and 9
    stays open for it.
    """
    options = ["--info-fd", str(_PIPE_IN), *ISOLATION, *kernel_files()]
    # First, since what follows may lie below them: an interpreter in /tmp, a vault in a folder called /run.
    for memory, megabytes in (("/tmp", 64), ("/run", 16)):  # noqa: S108 - inside of the sandbox
        options += memory_folder(memory, megabytes)
    options += system_files()
    for name in packages:
        library = _library_folder(name)
        # With the compiled libraries that a wheel brings beside its package.
        options += ["--ro-bind", library, f"{LIBRARIES}/{name}"]
        options += ["--ro-bind-try", f"{library}.libs", f"{LIBRARIES}/{name}.libs"]
    options += mounts
    notify = os.environ.get("NOTIFY_SOCKET", "")
    if notify.startswith("/"):  # one without a path belongs to the network outside of the sandbox
        options += ["--ro-bind", notify, notify]
    options += ["--remount-ro", "/dev", "--remount-ro", "/", "--chdir", folder]
    environment = {
        "HOME": folder,
        "LANG": "C.UTF-8",
        "LISTEN_FDS": "1",
        "PARACHUTE_HOME": root,
        "PATH": "/usr/local/bin:/usr/bin:/bin",
        "TMPDIR": "/tmp",  # noqa: S108 - inside of the sandbox
    }
    if notify.startswith("/"):
        environment |= {"NOTIFY_SOCKET": notify, "WATCHDOG_USEC": os.environ.get("WATCHDOG_USEC", "")}
    if zone := os.environ.get("TZ"):  # where /etc/localtime does not say it, as in a container: days begin by it
        environment["TZ"] = zone
    for name, value in environment.items():
        options += ["--setenv", name, value]
    _make_pipe()
    path = [LIBRARIES, *paths]
    start = f"import sys; sys.path.extend({path!r}); sys.argv[0] = {program!r}; import {program}.__main__"
    return ["/bin/sh", "-c", _FORWARD, "sh", *options, "--", interpreter(), "-ISB", "-c", start, *arguments]


def is_installed(package: str) -> bool:
    """True for a package that a sandbox can be given."""
    specification = find_spec(package)
    return bool(specification and specification.submodule_search_locations)


def _library_folder(name: str) -> str:
    specification = find_spec(name)
    if not specification or not specification.submodule_search_locations:
        raise NotFound(f"The package {name} is not installed.", "Install this program again.", key="package_missing")
    return specification.submodule_search_locations[0]


def _make_pipe() -> None:
    # Raised first: one of the two could have the number that the other one is to get.
    ends = [fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, FIRST_FREE) for end in os.pipe()]
    for end, number in zip(ends, (_PIPE_OUT, _PIPE_IN), strict=True):
        os.dup2(end, number)
