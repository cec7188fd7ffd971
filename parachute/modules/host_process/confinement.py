"""The bubblewrap sandbox of a module's process: what the consent screen said, and nothing else."""

import fcntl
import os
from importlib.util import find_spec
from pathlib import Path

from parachute.base.errors import InvalidInput, NotFound
from parachute.base.folders import Folder
from parachute.sandbox.engines.bubblewrap import ISOLATION, interpreter, kernel_files, memory_folder, system_files
from parachute.supervisor.host_specification import HostSpecification, specification_path

LIBRARIES = "/opt/parachute/lib"

# What the host process imports outside of Python's own library.
_PACKAGES = ("parachute", "parachute_runner", "yaml", "_yaml", "uvicorn", "h11", "httptools", "click")
_START = f"import sys; sys.path.append({LIBRARIES!r}); sys.argv[0] = 'parachute.modules.host_process'; import parachute.modules.host_process.__main__"
_PIPE_OUT, _PIPE_IN = 8, 9  # a shell knows descriptors of one digit only
_FIRST_OF_VAULT = 20
# bubblewrap passes no signal on: without this the sandbox would be killed, and the module in the middle of what it does. A shell,
# since it stays for as long as the module does and takes less than a megabyte. The pipe stays open: bubblewrap writes on after
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


def command(specification: HostSpecification) -> list[str]:
    """The command line of a module's process in its sandbox; descriptor 3 is its listening socket.

    Folders of the vault are opened here, and stay open for the sandbox; so does a pipe on descriptors 8 and 9. Error: InvalidInput
    when a folder that is to be written is a link or cannot be made.
    """
    arguments = ["--info-fd", str(_PIPE_IN), *ISOLATION, *kernel_files()]
    # First, since what follows may lie below them: an interpreter in /tmp, a vault in a folder called /run.
    for memory, megabytes in (("/tmp", 64), ("/run", 16)):  # noqa: S108 - inside of the sandbox
        arguments += memory_folder(memory, megabytes)
    arguments += system_files()
    for name, folder in _library_folders().items():
        arguments += ["--ro-bind", folder, f"{LIBRARIES}/{name}"]
    arguments += ["--ro-bind", specification.code, specification.code]
    # A module without dependencies has no such folder.
    arguments += ["--ro-bind-try", specification.packages, specification.packages]
    own = str(specification_path(specification.name))
    sockets = os.path.dirname(specification.core_socket)  # noqa: PTH120 - text in, text out
    for option, folder in (("--ro-bind", own), ("--ro-bind-try", sockets), ("--bind", specification.data)):
        arguments += [option, folder, folder]
    arguments += _vault(specification)
    notify = os.environ.get("NOTIFY_SOCKET", "")
    if notify.startswith("/"):  # one without a path belongs to the network outside of the sandbox
        arguments += ["--ro-bind", notify, notify]
    arguments += ["--remount-ro", "/dev", "--remount-ro", "/", "--chdir", specification.data]
    environment = {
        "HOME": specification.data,
        "LANG": "C.UTF-8",
        "LISTEN_FDS": "1",
        "PARACHUTE_HOME": own.removesuffix(f"/run/module/{specification.name}/spec.json"),
        "PATH": "/usr/local/bin:/usr/bin:/bin",
        "TMPDIR": "/tmp",  # noqa: S108 - inside of the sandbox
    }
    if notify.startswith("/"):
        environment |= {"NOTIFY_SOCKET": notify, "WATCHDOG_USEC": os.environ.get("WATCHDOG_USEC", "")}
    for name, value in environment.items():
        arguments += ["--setenv", name, value]
    _make_pipe()
    host = [interpreter(), "-ISB", "-c", _START, "--sandbox", specification.name]
    return ["/bin/sh", "-c", _FORWARD, "sh", *arguments, "--", *host]


def _make_pipe() -> None:
    # Raised first: one of the two could have the number that the other one is to get.
    ends = [fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, _FIRST_OF_VAULT) for end in os.pipe()]
    for end, number in zip(ends, (_PIPE_OUT, _PIPE_IN), strict=True):
        os.dup2(end, number)


def _vault(specification: HostSpecification) -> list[str]:
    """The folders of the vault, each as a descriptor that was reached without following a link within the vault.

    An agent that writes there could otherwise put a link in the place of a folder, and open the rest of the home to this sandbox.
    """
    arguments: list[str] = []
    with Folder.open(Path(specification.vault)) as root:
        for path in specification.read:
            try:
                arguments += ["--ro-bind-fd", str(_opened(root, path, specification.vault, make=False)), path]
            except FileNotFoundError:
                continue
            except OSError as error:
                raise InvalidInput(f"{path} cannot be given to the module: {error.strerror}.") from error
        # After those that are read only, since they may lie inside of one.
        for path in specification.write:
            try:
                arguments += ["--bind-fd", str(_opened(root, path, specification.vault, make=True)), path]
            except OSError as error:
                raise InvalidInput(f"{path} cannot be given to the module: {error.strerror}.") from error
    return arguments


def _opened(root: Folder, path: str, vault: str, make: bool) -> int:
    inside = Path(path).relative_to(vault)
    if make:
        root.folder(inside, make=True, mode=0o777).close()
    descriptor = root.path_descriptor(inside)
    raised = fcntl.fcntl(descriptor, fcntl.F_DUPFD, _FIRST_OF_VAULT)
    os.close(descriptor)
    return raised


def _library_folders() -> dict[str, str]:
    found: dict[str, str] = {}
    for name in _PACKAGES:
        specification = find_spec(name)
        if specification and specification.submodule_search_locations:
            found[name] = specification.submodule_search_locations[0]
        elif name != "_yaml":  # only there where PyYAML has its part in C
            raise NotFound(f"The package {name} is not installed.", "Install this program again.")
    return found
