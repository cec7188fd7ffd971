"""Runs, in the guest, the commands that come over a serial line: `agent.py LINE`; with the standard library only.

A request is a line of JSON `{"id", "command", "seconds"}`, its answer one `{"id", "code", "stdout", "stderr"}` with base64 for
what was said; several may be on their way. At first a line `{"id": 0, …}` says that it listens. One that takes more than its
seconds is killed with all of its process group, and its code is null. A line `{"taken"}` says how many bytes have been read so
far: the terminal holds 4 KiB, and stands still for ever when it is given more.
"""

import base64
import ctypes
import errno
import json
import os
import platform
import signal
import subprocess
import sys
import threading
import tty
from pathlib import Path
from typing import Any

_MODULES = Path("/usr/lib/modules")
_FINIT_MODULE = 313  # asm/unistd_64.h: the C library has no function for it


def main() -> None:
    """Serve until the line ends."""
    load_modules()
    # Not the controlling terminal: nothing on the line may end this process or the ones it starts.
    line = os.open(sys.argv[1], os.O_RDWR | os.O_NOCTTY | os.O_CLOEXEC)
    tty.setraw(line)
    writing = threading.Lock()

    def say(message: dict[str, Any]) -> None:
        said = (json.dumps(message) + "\n").encode()
        with writing:
            while said:
                said = said[os.write(line, said) :]

    def answer(request: dict[str, Any]) -> None:
        say({"id": request["id"], **carry_out(request)})

    answer({"id": 0, "command": ["true"], "seconds": 10})
    taken, pending = 0, b""
    while chunk := os.read(line, 4096):
        taken += len(chunk)
        say({"taken": taken})
        *requests, pending = (pending + chunk).split(b"\n")
        for request in requests:
            threading.Thread(target=answer, args=(json.loads(request),), daemon=True).start()


def carry_out(request: dict[str, Any]) -> dict[str, Any]:
    """The result of one command; one that cannot be started ends like in a shell, with 127."""
    try:
        process = subprocess.Popen(
            request["command"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
    except OSError as error:
        return said(127, b"", f"{error}\n".encode())
    with process:
        try:
            stdout, stderr = process.communicate(timeout=request["seconds"])
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            return said(None, b"", b"")
    return said(process.returncode, stdout, stderr)


def said(code: int | None, stdout: bytes, stderr: bytes) -> dict[str, Any]:
    """An answer, but for its id."""
    texts = {"stdout": stdout, "stderr": stderr}
    return {"code": code, **{name: base64.b64encode(text).decode() for name, text in texts.items()}}


def load_modules() -> None:
    """Load what came with the kernel, as files of one folder that need nothing of each other."""
    libc = ctypes.CDLL(None, use_errno=True)
    for path in sorted((_MODULES / platform.release()).glob("*.ko")):
        with path.open("rb") as file:
            if libc.syscall(_FINIT_MODULE, file.fileno(), b"", 0) and ctypes.get_errno() != errno.EEXIST:
                raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()), str(path))
    # Nothing here sets the modes of devices as they appear; users may open these two on any machine.
    for device in (Path("/dev/fuse"), Path("/dev/net/tun")):
        device.chmod(0o666)


if __name__ == "__main__":
    main()
