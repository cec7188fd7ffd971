"""Listening sockets, as a unit is given them."""

import contextlib
import fcntl
import os
import socket
import stat
from collections.abc import Sequence
from pathlib import Path

from parachute.base.errors import Unavailable
from parachute.base.files import private_folder

_BACKLOG = 128
_HIGH_FD = 100  # our own descriptors stay above those that a child is given, so that no dup2 overwrites its next source

HANDED_ON = "PARACHUTE_LISTENERS"
"""Names the descriptors of the server's sockets, in their order, for the supervisor of another version."""

Address = Path | tuple[str, int]


def listen(addresses: Sequence[Address]) -> list[socket.socket]:
    """A listening socket for each address; error: Unavailable, and then none is open."""
    sockets: list[socket.socket] = []
    try:
        for address in addresses:
            sockets.append(_local(address) if isinstance(address, Path) else _network(*address))
    except OSError as error:
        close(sockets, addresses)
        raise Unavailable(
            f"{address} cannot be listened on: {error.strerror or error}.", key="socket_unusable"
        ) from error
    except Unavailable:
        close(sockets, addresses)
        raise
    return sockets


def hand_on(sockets: Sequence[socket.socket]) -> None:
    """Let the program that this process becomes take the sockets over."""
    for listener in sockets:
        listener.set_inheritable(True)
    os.environ[HANDED_ON] = " ".join(str(listener.detach()) for listener in sockets)


def handed_on(addresses: Sequence[Address]) -> list[socket.socket] | None:
    """The sockets that the program before has left for these addresses, once; None if there are none, or others."""
    numbers = os.environ.pop(HANDED_ON, "").split()
    sockets = [socket.socket(fileno=int(number)) for number in numbers]
    for listener in sockets:
        listener.set_inheritable(False)
    if sockets and [listener.getsockname()[:2] for listener in sockets] == list(addresses):
        return sockets
    for listener in sockets:
        listener.close()
    return None


def close(sockets: Sequence[socket.socket], addresses: Sequence[Address]) -> None:
    """Close sockets that `listen` opened and remove what stands for them in the file system."""
    for listener, address in zip(sockets, addresses, strict=False):
        listener.close()
        if isinstance(address, Path):
            with contextlib.suppress(OSError):  # a disk that became read-only; or others have something in the folder
                address.unlink(missing_ok=True)
                address.parent.rmdir()


def raised(descriptor: int) -> int:
    """The same file under a number above those that children are given."""
    number = fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, _HIGH_FD)
    os.close(descriptor)
    return number


def _local(path: Path) -> socket.socket:
    private_folder(path.parent)
    with contextlib.suppress(FileNotFoundError):
        if stat.S_ISSOCK(path.lstat().st_mode):
            path.unlink()  # left by a supervisor that was killed
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(path))
    path.chmod(0o600)
    return _listening(listener)


def _network(host: str, port: int) -> socket.socket:
    try:
        listener = socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET)
    except OSError as error:
        raise Unavailable(
            f"Port {port} on {host} cannot be used: {error.strerror or error}.",
            "Another program has it: end that one, or start with --port.",
            key="port_unusable",
        ) from error
    # Accepted connections inherit it; without it each small event of a stream waits 40 ms for an acknowledgement.
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return _listening(listener)


def _listening(listener: socket.socket) -> socket.socket:
    listener.listen(_BACKLOG)
    return socket.socket(fileno=raised(listener.detach()))
