"""Probes what a service may do, once for each directive, and prints it as JSON: `directives.py`.

It runs in the guest, on its own. Each look has a process of its own, since a filter of system calls kills the one that
makes a forbidden call. Where a call is refused to everybody without rights, it is made with an argument that the kernel
checks before the rights, and a filter of calls does not.
"""

import ctypes
import errno
import json
import mmap
import os
import signal
import socket
import stat
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

_CLOCK_SETTIME, _PERSONALITY, _PTRACE, _SCHED_SETSCHEDULER, _KEYCTL = (
    {"x86_64": (227, 135, 101, 144, 250), "aarch64": (112, 92, 117, 119, 219)}[os.uname().machine]
)  # fmt: skip
_X32_GETPID = 0x40000000 + 39
_SESSION_KEYRING, _SCHED_FIFO, _PER_LINUX32, _TRACEME = -3, 1, 8, 0
_LIBC = ctypes.CDLL(None, use_errno=True)


def main() -> None:
    """Print one JSON object."""
    probes: dict[str, Callable[[], object]] = {
        "users": lambda: Path("/proc/self/uid_map").read_text().split()[2],
        "bounding set": lambda: int(_status("CapBnd"), 16),
        "no new privileges": lambda: _status("NoNewPrivs"),
        "setuid file": _setuid_file,
        "namespace": lambda: _call(_LIBC.unshare(0x10000000)),
        "devices": lambda: Path("/dev").stat().st_dev,
        "queues": lambda: str(Path("/proc/self/ns/ipc").readlink()),
        "name of the machine": lambda: str(Path("/proc/self/ns/uts").readlink()),
        "kernel's settings": lambda: _read_only("/proc/sys"),
        "control groups": lambda: _read_only("/sys/fs/cgroup"),
        "kernel's log": lambda: oct(stat.S_IMODE(Path("/proc/kmsg").stat().st_mode)),
        "kernel's modules": lambda: len(list(Path("/usr/lib/modules").iterdir())),
        "clock": lambda: _system_call(_CLOCK_SETTIME, 0, None),
        "trace": lambda: _system_call(_PTRACE, _TRACEME, 0, 0, 0),
        "change an owner": lambda: os.chown(_file(), -1, os.getgid()),
        "keyring": lambda: _system_call(_KEYCTL, 0, _SESSION_KEYRING, 0),
        "other machine's call": lambda: _system_call(_X32_GETPID) and "done",
        "personality": lambda: _system_call(_PERSONALITY, _PER_LINUX32),
        "come before all others": lambda: _system_call(_SCHED_SETSCHEDULER, -1, _SCHED_FIFO, None),
        "new file": _mode_of_a_new_file,
        "written code": lambda: mmap.mmap(
            -1, mmap.PAGESIZE, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC
        ).close(),
        "write below /usr": lambda: Path("/usr/local/of-user/written").write_text("x"),
        "write elsewhere": lambda: Path("/srv/of-user/written").write_text("x"),
        "write at home": lambda: (Path.home() / "written").write_text("x"),
        "netlink socket": lambda: socket.socket(socket.AF_NETLINK, socket.SOCK_RAW).close(),
        "packet socket": lambda: socket.socket(socket.AF_PACKET, socket.SOCK_RAW).close(),
    }
    json.dump({name: _outcome(probe) for name, probe in probes.items()}, sys.stdout)


def _status(name: str) -> str:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(line.split()[1] for line in lines if line.startswith(f"{name}:"))


def _read_only(path: str) -> bool:
    return bool(os.statvfs(path).f_flag & os.ST_RDONLY)


def _file() -> str:
    descriptor, name = tempfile.mkstemp()
    os.close(descriptor)
    return name


def _mode_of_a_new_file() -> str:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "new")
        file.touch()
        return oct(stat.S_IMODE(file.stat().st_mode))


def _setuid_file() -> None:
    Path(_file()).chmod(0o4700)


def _system_call(*arguments: object) -> int:
    return _call(_LIBC.syscall(*arguments))


def _call(result: int) -> int:
    if result < 0:
        raise OSError(ctypes.get_errno(), "refused")
    return result


def _outcome(look: Callable[[], object]) -> object:
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            found = look()
            os.write(writer, json.dumps("done" if found is None else found).encode())
        except OSError as error:
            os.write(writer, json.dumps(errno.errorcode[error.errno or 0]).encode())
        finally:
            os._exit(0)
    os.close(writer)
    _, status = os.waitpid(child, 0)
    with os.fdopen(reader) as pipe:
        said = pipe.read()
    return signal.Signals(os.WTERMSIG(status)).name if os.WIFSIGNALED(status) else json.loads(said)


if __name__ == "__main__":
    main()
