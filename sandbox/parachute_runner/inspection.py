"""Inspection from inside of a sandbox: attempts of a fork of its runner, which no agent in it can trace or replace.

A request with a `file` is for that alone: `reading` sends it.
"""

import contextlib
import errno
import json
import os
import resource
import socket
import stat
import threading
from collections.abc import Iterable
from typing import Any

from parachute_runner import checks, protocol, reading

_SECONDS = 30.0
_CONNECT_SECONDS = 2.0
_PLACES = 1000
_NAMESPACES = ("cgroup", "ipc", "mnt", "net", "pid", "user", "uts")
_STATUS = ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb", "NoNewPrivs", "Seccomp")
_RECIPE = "/etc/parachute-recipe"

DONE = "done"
"""The outcome of an attempt that succeeded; of others it is the name of the error."""


def answer(connection: socket.socket) -> None:
    """Inspect, send the findings, and stay until the peer has inspected this process from outside."""
    connection.settimeout(_SECONDS)
    try:
        request = protocol.receive_inspection(connection)
        if isinstance(request, dict) and "file" in request:
            reading.send(connection, str(request["folder"]), str(request["file"]), int(request["limit"]))
            connection.sendall(protocol.frame(protocol.EXIT, b"0"))
            return
        found = json.dumps(inspect(request)).encode()
        if len(found) > protocol.MAXIMUM_FRAME:
            raise ValueError("there are too many mounts")
        connection.sendall(protocol.frame(protocol.STDOUT, found))
        connection.recv(1)
    except (OSError, ValueError, KeyError, TypeError, protocol.ProtocolError, checks.Differs) as error:
        with contextlib.suppress(OSError):
            connection.sendall(protocol.frame(protocol.STDERR, f"{error}\n".encode()))
    with contextlib.suppress(OSError):
        connection.sendall(protocol.frame(protocol.EXIT, b"0"))


def inspect(request: dict[str, Any]) -> dict[str, Any]:
    """Everything that can be seen, and the outcome of every attempt, by what was attempted.

    `request` has lists: `paths` are written to, named and measured like every mount point, `read` are read, `connect` has
    [kind, address, port] with the kinds tcp, udp and abstract, `resolve` has host names.
    """
    places = checks.mount_points()
    paths = [str(path) for path in request["paths"]]
    tried = dict.fromkeys([*paths, *list(places)[:_PLACES]])
    return {
        "user": [os.getuid(), os.getgid()],
        "status": _status(),
        "namespaces": {name: os.readlink(f"/proc/self/ns/{name}") for name in _NAMESPACES},
        "interfaces": _interfaces(),
        "places": {path: "rw" if writable else "ro" for path, writable in list(places.items())[:_PLACES]},
        "writes": {path: _write(path) for path in tried},
        "files": _identities(paths),
        "sizes": {path: size for path in paths if (size := _size(path)) is not None},
        "reads": {str(path): _read(str(path)) for path in request["read"]},
        "connects": {
            f"{kind} {address} {port}": _connect(kind, address, port) for kind, address, port in request["connect"]
        },
        "resolves": {str(name): _resolve(str(name)) for name in request["resolve"]},
        "environment": sorted(os.environ),
        "group": checks.limits_in_force(),
        "limits": {
            name: resource.getrlimit(getattr(resource, f"RLIMIT_{name}"))[0]
            for name in ("CORE", "FSIZE", "NOFILE", "NPROC")
        },
        "recipe": _text(_RECIPE),
    }


def _status() -> dict[str, str]:
    with open("/proc/self/status", encoding="ascii", errors="replace") as file:
        lines = dict(line.rstrip("\n").split(":\t", 1) for line in file if ":\t" in line)
    return {name: lines[name] for name in _STATUS if name in lines}


def _interfaces() -> list[str]:
    with open("/proc/net/dev", encoding="ascii", errors="replace") as file:
        return sorted(line.partition(":")[0].strip() for line in file if ":" in line)


def _identities(paths: Iterable[str]) -> dict[str, list[int]]:
    found = {}
    for path in paths:
        with contextlib.suppress(checks.Differs):  # it is not there
            found[path] = list(checks.identity(path))
    return found


def _write(path: str) -> str:
    """Try to write to a file, or to make one in a folder; nothing is changed, and nothing is left."""
    try:
        kind = os.lstat(path).st_mode
        if stat.S_ISREG(kind):
            os.close(os.open(path, os.O_WRONLY | os.O_NOFOLLOW | os.O_CLOEXEC))
        elif stat.S_ISDIR(kind):
            _make_file(path)
        else:
            return "no file"
    except OSError as error:
        return _name(error)
    return DONE


def _make_file(folder: str) -> None:
    try:
        # A file without a name: nobody sees it, and no error can leave it there.
        os.close(os.open(folder, os.O_TMPFILE | os.O_WRONLY | os.O_CLOEXEC, 0o600))
        return
    except OSError as error:
        if error.errno not in (errno.EOPNOTSUPP, errno.EISDIR, errno.ENOENT, errno.EINVAL):
            raise
    path = os.path.join(folder, f".parachute-inspection-{os.urandom(8).hex()}")
    os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600))
    os.unlink(path)


def _read(path: str) -> str:
    try:
        with open(path, "rb") as file:
            file.read(1)
    except OSError as error:
        return _name(error)
    return DONE


def _connect(kind: str, address: str, port: int) -> str:
    family = socket.AF_UNIX if kind == "abstract" else socket.AF_INET6 if ":" in address else socket.AF_INET
    try:
        with socket.socket(family, socket.SOCK_DGRAM if kind == "udp" else socket.SOCK_STREAM) as connection:
            connection.settimeout(_CONNECT_SECONDS)
            # A datagram socket is only given its way by this: nothing is sent.
            connection.connect(f"\0{address}" if kind == "abstract" else (address, int(port)))
    except TimeoutError:
        return "ETIMEDOUT"
    except OSError as error:
        return _name(error)
    return DONE


def _resolve(name: str) -> str:
    """Outcome of a lookup: done if any name server answers, if only that there is no such name."""
    outcome = ["ETIMEDOUT"]

    def resolve() -> None:
        try:
            socket.getaddrinfo(name, 80, type=socket.SOCK_STREAM)
            outcome[0] = DONE
        except socket.gaierror as error:
            names = {value: name for name, value in vars(socket).items() if name.startswith("EAI_")}
            outcome[0] = DONE if error.errno == socket.EAI_NONAME else names.get(error.errno or 0, "EAI")
        except OSError as error:
            outcome[0] = _name(error)

    thread = threading.Thread(target=resolve, daemon=True)
    thread.start()
    thread.join(_CONNECT_SECONDS * 2)
    return outcome[0]


def _size(path: str) -> int | None:
    try:
        found = os.statvfs(path)
    except OSError:
        return None
    return found.f_frsize * found.f_blocks


def _text(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read(200).strip()
    except OSError:
        return ""


def _name(error: OSError) -> str:
    return errno.errorcode.get(error.errno or 0, "error")
