"""The command line of a program that is to be started outside of core's confinement."""

import os
import sys
from collections.abc import Sequence
from pathlib import Path

SOCKET = "PARACHUTE_PROGRAMS"
"""Where the unit `programs` listens, in the environment of a process that systemd holds back."""

SERVER = Path(__file__).with_name("server.py")
_STAND_IN = str(Path(__file__).with_name("stand_in.py"))


def socket_path(root: Path) -> Path:
    """The socket of the unit `programs`; `root` is the folder of trust."""
    return root / "run" / "programs" / "start.sock"


def outside(command: Sequence[str], *, leaves: bool = False) -> list[str]:
    """The command as it is, or in a process that is held back, one that has it started outside.

    Streams, environment, folder and the largest size of a file go with it, and it ends with what stands in for it here.
    The exit code is the program's, 128 and the number of the signal that ended it, 127 when it is not there. `leaves`: it may
    leave processes behind, which are otherwise ended with it.
    """
    if SOCKET not in os.environ:
        return list(command)
    return [sys.executable, "-IS", _STAND_IN, os.environ[SOCKET], "leaves" if leaves else "ends", *command]
