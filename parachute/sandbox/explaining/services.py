"""Services of this machine that a box must not reach, open for the time of a look; each is reached by ourselves first."""

import contextlib
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

_FOREIGN = "192.0.2.1"
"""An address of nobody (RFC 5737); finding the way to it sends nothing."""

_DISCARD = 9
_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class Services:
    """What a look shall try to reach: [kind, address, port]; `outward` is empty on a machine that has no network itself."""

    loopback: tuple[str, str, int]
    abstract: tuple[str, str, int]
    outward: tuple[tuple[str, str, int], ...]
    listeners: tuple[socket.socket, socket.socket]

    @property
    def all(self) -> tuple[tuple[str, str, int], ...]:
        """Everything that is to be tried."""
        return (self.loopback, self.abstract, *self.outward)

    def visited(self) -> tuple[bool, bool]:
        """Whether somebody came to the loopback's service, and to the abstract socket's."""
        came = []
        for listener in self.listeners:
            listener.setblocking(False)
            try:
                listener.accept()[0].close()
                came.append(True)
            except BlockingIOError:
                came.append(False)
        return came[0], came[1]


@contextmanager
def services() -> Iterator[Services]:
    """Open them; error: OSError if we do not reach them ourselves, since then an attempt would prove nothing."""
    name = f"parachute-look-{os.urandom(8).hex()}"
    with contextlib.ExitStack() as stack:
        loopback = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        abstract = stack.enter_context(socket.socket(socket.AF_UNIX))
        abstract.bind(f"\0{name}")
        abstract.listen()
        for listener in (loopback, abstract):
            with socket.socket(listener.family) as visitor:
                visitor.settimeout(_SECONDS)
                visitor.connect(listener.getsockname())
                listener.accept()[0].close()
        port = loopback.getsockname()[1]
        own = _own_address()
        outward = (("udp", _FOREIGN, _DISCARD), ("tcp", own, port)) if own else ()
        yield Services(("tcp", "127.0.0.1", port), ("abstract", name, 0), outward, (loopback, abstract))


def _own_address() -> str | None:
    """The address of this machine in its network, or None if it has no way out."""
    with socket.socket(type=socket.SOCK_DGRAM) as finder:
        try:
            finder.connect((_FOREIGN, _DISCARD))
        except OSError:
            return None
        address: str = finder.getsockname()[0]
        return None if address.startswith("127.") else address
