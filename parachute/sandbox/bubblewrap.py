"""The bubblewrap engine: user, PID, network, IPC and host-name namespaces, and a file system made of allowed parts only."""

import shutil
import subprocess
import sys
from pathlib import Path

from parachute.sandbox.models import Specification

HOME = "/home/agent"
RUNNER = "/opt/parachute/parachute_runner"
PROGRAM = "/opt/parachute/agent"
SOCKETS = "/run/parachute"

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

_ISOLATION = [
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


def command(specification: Specification) -> list[str]:
    """The command line that runs the agent runner of one session; file descriptor 3 is its listening socket."""
    arguments = ["bwrap", *_ISOLATION, "--proc", "/proc", "--dev", "/dev"]
    # First, since what follows may lie below them: an interpreter in /tmp, a project in a folder called /run.
    for folder, megabytes in (("/tmp", 256), ("/run", 16), (HOME, 256)):  # noqa: S108 - inside the box
        arguments += ["--perms", "0700", "--size", str(megabytes << 20), "--tmpfs", folder]
    for folder in (*_SYSTEM, *_ETC, *_python_folders()):
        arguments += ["--ro-bind-try", folder, folder]
    for link in _LINKS:
        path = Path(link)
        if path.is_symlink():
            arguments += ["--symlink", str(path.readlink()), link]
        elif path.is_dir():
            arguments += ["--ro-bind", link, link]
    scratch = f"/scratch/{specification.session}"
    arguments += ["--perms", "0755", "--dir", "/scratch"]
    arguments += ["--perms", "0700", "--size", str(specification.scratch_megabytes << 20), "--tmpfs", scratch]
    arguments += ["--ro-bind", str(_runner_folder()), RUNNER, "--ro-bind", specification.program, PROGRAM]
    arguments += ["--ro-bind", specification.sockets, SOCKETS]
    arguments += ["--bind", specification.transcripts, specification.transcripts_target]
    for mount in specification.mounts:
        arguments += ["--bind" if mount.writable else "--ro-bind", mount.source, mount.target]
    arguments += ["--remount-ro", "/", "--chdir", specification.directory]
    environment = {
        "HOME": HOME,
        "LANG": "C.UTF-8",
        "LISTEN_FDS": "1",
        "LOGNAME": "agent",
        "PATH": "/usr/local/bin:/usr/bin:/bin",
        "SHELL": "/bin/bash",
        "TMPDIR": "/tmp",  # noqa: S108 - inside the box
        "USER": "agent",
    }
    for name, value in environment.items():
        arguments += ["--setenv", name, value]
    runner = [
        _interpreter(),
        "-IS",
        f"{RUNNER}/runner.py",
        "--single",
        "--idle-seconds",
        str(specification.idle_seconds),
    ]
    return [*arguments, "--", *runner, "--", PROGRAM]


def unavailable() -> str | None:
    """Why bubblewrap cannot be used here, as a sentence, or None; found out by running it, since policies differ."""
    if not shutil.which("bwrap"):
        return "bubblewrap is not installed."
    try:
        probe = subprocess.run(
            ["bwrap", *_ISOLATION, "--ro-bind", "/", "/", "--proc", "/proc", "--dev", "/dev", "--", "/bin/true"],
            capture_output=True,
            text=True,
            timeout=10,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"bubblewrap does not run: {error}."
    if probe.returncode != 0:
        return f"bubblewrap may not be used here: {probe.stderr.strip()[:200]}."
    return None


def _runner_folder() -> Path:
    import parachute_runner

    return Path(parachute_runner.__path__[0])


def _interpreter() -> str:
    """The interpreter itself, not that of a virtual environment: the runner needs the standard library only."""
    return str(Path(sys.base_prefix) / "bin" / f"python{sys.version_info.major}.{sys.version_info.minor}")


def _python_folders() -> list[str]:
    """The interpreter's installation, unless it is part of the system."""
    inside = any(Path(sys.base_prefix).is_relative_to(folder) for folder in _SYSTEM)
    return [] if inside else [sys.base_prefix]
