"""Command lines of programs that the command runner starts, outside of the server's confinement."""

import os
import sys
from collections.abc import Sequence
from pathlib import Path

SOCKET = "PARACHUTE_PROGRAMS"
"""The variable with the socket of the unit `programs`, in the environment of a process that systemd confines."""

SERVER = Path(__file__).with_name("server.py")
_CLIENT = str(Path(__file__).with_name("client.py"))


def socket_path(root: Path) -> Path:
    """The socket of the unit `programs`; `root` is the state directory."""
    return root / "run" / "programs" / "start.sock"


def outside(command: Sequence[str], *, leaves: bool = False) -> list[str]:
    """The command as it is, or in a confined process the command runner's client with it.

    Streams, environment, folder and the largest size of a file are passed on, and the program ends with its client.
    The exit code is the program's, 128 and the number of the signal that ended it, 127 when it is not there. `leaves`: it may
    leave processes behind, which are otherwise ended with it.
    """
    if SOCKET not in os.environ:
        return list(command)
    return [sys.executable, "-IS", _CLIENT, os.environ[SOCKET], "leaves" if leaves else "ends", *command]
