"""Tries what a confined service may not do, and prints as JSON what came of each: `done`, or how it was refused.

It runs in the guest, on its own: `probe.py VAULT PORT`. Each attempt has a process of its own, since a filter of system calls
kills the one that makes a forbidden call.
"""

import ctypes
import json
import mmap
import os
import signal
import socket
import sys
from collections.abc import Callable
from pathlib import Path

PTRACE_TRACEME = 0  # linux/ptrace.h; not in @system-service, and anybody may call it
PR_GET_NO_NEW_PRIVS = 39  # linux/prctl.h


def main() -> None:
    """Print one JSON object."""
    vault = Path(sys.argv[1])
    attempts: dict[str, Callable[[], object]] = {
        "write the own folder": lambda: (vault / "Daily" / "written").write_text("x"),
        "read the other folder": lambda: (vault / "Brain" / "entity.md").read_text(),
        "write the other folder": lambda: (vault / "Brain" / "written").write_text("x"),
        "read the rest of the vault": lambda: (vault / "Chat" / "secret.md").read_text(),
        "read the secrets": lambda: (Path.home() / ".parachute" / "keys.yaml").read_text(),
        "write elsewhere": lambda: Path("/srv/shared/written").write_text("x"),
        "see the files of others in /tmp": lambda: Path("/tmp/of-others").read_text(),
        "make an internet socket": lambda: socket.socket(socket.AF_INET).close(),
        "reach a server of this machine": lambda: _connect(int(sys.argv[2])),
        "gain rights by a setuid program": _may_gain_rights,
        "call what is not in @system-service": _trace,
        "run what it has written": _writable_code,
    }
    json.dump({name: _outcome(attempt) for name, attempt in attempts.items()}, sys.stdout)


def _connect(port: int) -> None:
    socket.create_connection(("127.0.0.1", port), timeout=5).close()


def _may_gain_rights() -> None:
    if ctypes.CDLL(None).prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0):
        raise PermissionError("no new privileges")


def _trace() -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.ptrace(PTRACE_TRACEME, 0, 0, 0) < 0:
        raise OSError(ctypes.get_errno(), "ptrace")


def _writable_code() -> None:
    mmap.mmap(-1, mmap.PAGESIZE, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC).close()


def _outcome(attempt: Callable[[], object]) -> str:
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            attempt()
            os.write(writer, b"done")
        except OSError as error:
            os.write(writer, (type(error).__name__ + f" {error.errno or ''}").strip().encode())
        finally:
            os._exit(0)
    os.close(writer)
    _, status = os.waitpid(child, 0)
    with os.fdopen(reader) as pipe:
        said = pipe.read()
    return signal.Signals(os.WTERMSIG(status)).name if os.WIFSIGNALED(status) else said


if __name__ == "__main__":
    main()
