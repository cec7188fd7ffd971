"""The listening socket that whoever started this process holds and passes on."""

import os
import select
import socket
from collections.abc import MutableMapping

from parachute.base.errors import InvalidInput

FIRST_DESCRIPTOR = 3  # SD_LISTEN_FDS_START of sd_listen_fds(3)


def adopt_listener(environment: MutableMapping[str, str]) -> socket.socket:
    """Take over descriptor 3 and remove the LISTEN_ variables; error: InvalidInput when it is not ours or no listener."""
    hint = "Start it through its socket, as the supervisor does."
    process = environment.pop("LISTEN_PID", None)
    count = environment.pop("LISTEN_FDS", None)
    environment.pop("LISTEN_FDNAMES", None)
    # systemd numbers the first process of a namespace (PrivatePIDs) as it sees it itself. Such a process has no parent in
    # there from which it could have inherited variables that are meant for another one.
    if process is not None and process != str(os.getpid()) and os.getpid() != 1:
        raise InvalidInput(f"LISTEN_PID is {process!r}, and this is process {os.getpid()}.", hint, key="listen_pid")
    if count != "1":
        raise InvalidInput(
            f"LISTEN_FDS is {count!r}, and exactly one listening socket is needed: 1.", hint, key="listen_fds"
        )
    try:
        listener = socket.socket(fileno=FIRST_DESCRIPTOR)
    except OSError as error:
        raise InvalidInput(
            f"Descriptor {FIRST_DESCRIPTOR} is not a socket: {error.strerror}.", hint, key="not_a_socket"
        ) from error
    if listener.family != socket.AF_UNIX or listener.type != socket.SOCK_STREAM or not _listens(listener):
        listener.detach()
        raise InvalidInput(
            f"Descriptor {FIRST_DESCRIPTOR} is not a listening Unix stream socket.", hint, key="not_listening"
        )
    listener.set_inheritable(False)
    listener.setblocking(False)
    return listener


def connection_waits(listener: socket.socket) -> bool:
    """True if a connection waits to be accepted."""
    poll = select.poll()
    poll.register(listener, select.POLLIN)
    return bool(poll.poll(0))


def _listens(listener: socket.socket) -> bool:
    try:
        return bool(listener.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN))
    except OSError:
        return True  # macOS cannot tell for Unix sockets; the first accept will
