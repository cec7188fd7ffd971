"""The sandbox of an MCP server: the system's programs, what the approval names, a folder of its own, and nothing else."""

import os
from collections.abc import Mapping
from pathlib import Path

from parachute.capabilities.mcp_servers.models import PLUGIN_ROOT
from parachute.capabilities.mcp_servers.specification import Started
from parachute.sandbox.engines.bubblewrap import (
    ISOLATION,
    counts_processes_by_namespace,
    interpreter,
    kernel_files,
    memory_folder,
    system_files,
)
from parachute.sandbox.layout import EGRESS_SOCKET, RUNNER, SOCKETS, runner_folder

DATA = "/data"
"""A server's own folder in its sandbox: its home and its working directory."""

MEMORY = 1 << 30
"""Bytes that each process of a server may write to."""

PROCESSES = 256
"""Processes and threads of a server at a time."""


def environment(own: Mapping[str, str]) -> dict[str, str]:
    """The variables of a server's program."""
    return {
        "HOME": DATA,
        "LANG": "C.UTF-8",
        "PATH": "/usr/local/bin:/usr/bin:/bin",
        "TMPDIR": "/tmp",  # noqa: S108 - inside of the sandbox
        **own,
    }


def program(started: Started) -> list[str]:
    """The command line of the server itself, as it is run inside of the sandbox."""
    server = started.runnable.server
    command = [server.command, *server.args]
    if not started.runnable.approval.hosts:
        return command
    return [interpreter(), "-IS", f"{RUNNER}/egress_forward.py", f"{SOCKETS}/{EGRESS_SOCKET}", "--", *command]


def command(started: Started, copies: Mapping[str, Path], start: int) -> list[str]:
    """The command line of the sandbox; descriptor 3 is the listening socket, and `start` that with what to run."""
    arguments = ["bwrap", *ISOLATION, *kernel_files()]
    # First, since what follows may lie below them: an interpreter or an approved file in /tmp.
    for folder, megabytes in (("/tmp", 256), ("/run", 16)):  # noqa: S108 - inside of the sandbox
        arguments += memory_folder(folder, megabytes)
    arguments += system_files()
    arguments += ["--ro-bind", str(runner_folder()), RUNNER]
    for folder in started.runnable.approval.folders:
        arguments += ["--ro-bind", folder, folder]
    if root := started.runnable.server.root:
        arguments += ["--ro-bind", root, PLUGIN_ROOT]
    for path, copy in copies.items():
        arguments += ["--ro-bind", str(copy), path]
    if started.runnable.approval.hosts:
        arguments += ["--ro-bind", str(started.folders.sockets), SOCKETS]
    arguments += ["--bind", str(started.folders.data), DATA]
    arguments += ["--remount-ro", "/dev", "--remount-ro", "/", "--chdir", DATA, "--setenv", "LISTEN_FDS", "1"]
    relay = [interpreter(), "-IS", f"{RUNNER}/mcp_relay.py", "--start", str(start), "--memory", str(MEMORY)]
    if counts_processes_by_namespace(os.uname().release):
        relay += ["--processes", str(PROCESSES)]
    return [*arguments, "--", *relay]
