"""The bubblewrap engine: user, PID, network, IPC and host-name namespaces, and a file system made of allowed parts only."""

import os
import re
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path

from parachute.base.errors import Unavailable
from parachute.sandbox.engines.models import Specification
from parachute.sandbox.layout import ENVIRONMENT, PLACES, RUNNER, SCRATCH, SHARED_MEMORY, runner_folder
from parachute.supervisor.command_runner.starting import outside

_SYSTEM = ("/usr", "/nix/store")
_LINKS = ("/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")
_ETC = (
    "/etc/alternatives",
    "/etc/ca-certificates",
    "/etc/ld.so.cache",
    "/etc/ld.so.conf",
    "/etc/ld.so.conf.d",
    "/etc/localtime",
    "/etc/magic",
    "/etc/mime.types",
    "/etc/pki",
    "/etc/ssl/certs",
    "/etc/ssl/openssl.cnf",
    "/etc/timezone",
)
_SHARED_MEGABYTES = next(place.megabytes for place in PLACES if place.path == SHARED_MEMORY)
_OWN_ETC = ("passwd", "group", "hosts")  # programs ask who and where they are; the machine's own answers stay outside

ISOLATION = [
    "--unshare-user",
    "--unshare-ipc",
    "--unshare-pid",
    "--unshare-net",
    "--unshare-uts",
    "--unshare-cgroup-try",
    "--disable-userns",  # no further user namespace inside: most kernel escapes of the last years began with one
    "--uid",
    "1000",
    "--gid",
    "1000",
    "--hostname",
    "parachute",
    "--cap-drop",
    "ALL",
    "--new-session",  # no controlling terminal to push input into (CVE-2017-5226)
    "--die-with-parent",
    "--as-pid-1",  # the runner reaps orphans and may end the whole namespace
    "--clearenv",
]


def command(specification: Specification, opened: Mapping[str, int]) -> list[str]:
    """The command line that runs the agent runner of one session; file descriptor 3 is its listening socket.

    `opened` maps the target of each mount to a descriptor of its source; a mount without one is left out.
    """
    arguments = ["bwrap", *ISOLATION, *kernel_files()]
    arguments += ["--perms", "0755", "--dir", SCRATCH]
    # First, since what follows may lie below them: an interpreter in /tmp, a project in a folder called /run.
    for place in specification.memory:
        if place.path != SHARED_MEMORY:
            arguments += memory_folder(place.path, place.megabytes)
    arguments += system_files()
    for mount in specification.runtime_mounts:
        arguments += ["--ro-bind", mount.source, mount.target]
    for mount in (*specification.kept_mounts, *specification.mounts):
        if mount.target in opened:
            kind = "--bind-fd" if mount.writable else "--ro-bind-fd"
            arguments += [kind, str(opened[mount.target]), mount.target]
    arguments += ["--remount-ro", "/dev", "--remount-ro", "/", "--chdir", specification.directory]
    for name, value in {**ENVIRONMENT, "LISTEN_FDS": "1"}.items():
        arguments += ["--setenv", name, value]
    runner = [interpreter(), "-IS", f"{RUNNER}/runner.py", "--single", "--refuse-calls"]
    runner += ["--idle-seconds", str(specification.idle_seconds)]
    if counts_processes_by_namespace(os.uname().release):
        runner += ["--processes", str(specification.processes)]
    return [*arguments, "--", *runner, "--", *specification.agent_command(interpreter())]


def unavailable() -> str | None:
    """The reason why bubblewrap cannot be used here, as a sentence, or None; found out by running it, since policies differ.

    Error: Unavailable when it could not be found out: that is no reason to go without a sandbox.
    """
    import shutil  # not for the launcher, which somebody waits for
    import subprocess

    if not shutil.which("bwrap"):
        return "bubblewrap is not installed."
    # Every option that is not as old as bubblewrap itself has to be in here.
    isolated = ["bwrap", *ISOLATION, "--ro-bind-fd", "9", "/", *kernel_files()]
    # Opened where it is tried, which may have other mounts than we see.
    opening = ["/bin/sh", "-c", 'exec "$@" 9</', "sh"]
    try:
        probe = subprocess.run(
            outside([*opening, *isolated, "--", "/bin/sh", "-c", ":"]),
            capture_output=True,
            text=True,
            timeout=10,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Unavailable(f"bubblewrap could not be tested: {error}.", "Try again.", key="no_sandbox") from error
    if probe.returncode != 0:
        return f"bubblewrap may not be used here: {probe.stderr.strip()[:200]}."
    return None


def system_files() -> list[str]:
    """The system's programs and libraries, read-only, with the interpreter and our own answers to who and where one is."""
    arguments: list[str] = []
    for folder in (*_SYSTEM, *_ETC, *_python_folders()):
        arguments += ["--ro-bind-try", folder, folder]
    for link in _LINKS:
        path = Path(link)
        if path.is_symlink():
            arguments += ["--symlink", str(path.readlink()), link]
        elif path.is_dir():
            arguments += ["--ro-bind", link, link]
    for name in _OWN_ETC:
        arguments += ["--ro-bind", str(runner_folder() / "etc" / name), f"/etc/{name}"]
    return arguments


def library_folders(packages: Iterable[str]) -> dict[str, str]:
    """The folders of those packages that are installed, by their names, each with that of the libraries its wheel has beside it."""
    from importlib.util import find_spec  # not for the launcher of agents, which somebody waits for

    found: dict[str, str] = {}
    for name in packages:
        specification = find_spec(name)
        if specification and specification.submodule_search_locations:
            found[name] = specification.submodule_search_locations[0]
            if (beside := Path(f"{found[name]}.libs")).is_dir():
                found[beside.name] = str(beside)
    return found


def system_places() -> tuple[str, ...]:
    """The paths at which `system_files` may mount something."""
    return (*_SYSTEM, *_ETC, *_python_folders(), *_LINKS, *(f"/etc/{name}" for name in _OWN_ETC))


def kernel_files() -> list[str]:
    """Own /proc and /dev."""
    # bubblewrap leaves /proc/sys as it is where its folder is not writable; root's agents could write the files in it.
    return [
        *("--proc", "/proc", "--ro-bind", "/proc/sys", "/proc/sys"),
        *("--dev", "/dev"),
        *memory_folder(SHARED_MEMORY, _SHARED_MEGABYTES),
    ]


def memory_folder(folder: str, megabytes: int) -> list[str]:
    """An empty folder that lives in memory."""
    return ["--perms", "0700", "--size", str(megabytes << 20), "--tmpfs", folder]


def counts_processes_by_namespace(release: str) -> bool:
    """True where RLIMIT_NPROC counts a user namespace's processes (Linux 5.14), not all that the owner has on the machine."""
    version = re.match(r"(\d+)\.(\d+)", release)
    return version is not None and (int(version[1]), int(version[2])) >= (5, 14)


def interpreter() -> str:
    """The interpreter itself, not that of a virtual environment: the runner needs the standard library only."""
    return str(Path(sys.base_prefix) / "bin" / f"python{sys.version_info.major}.{sys.version_info.minor}")


def _python_folders() -> list[str]:
    """The interpreter's installation, unless it is part of the system."""
    inside = any(Path(sys.base_prefix).is_relative_to(folder) for folder in _SYSTEM)
    return [] if inside else [sys.base_prefix]
