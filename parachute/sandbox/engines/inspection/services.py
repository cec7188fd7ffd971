"""Services of this machine that a sandbox must not reach, open during an inspection; each is reached by ourselves first."""

import contextlib
import os
import socket
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from msgspec import Struct

Address = tuple[str, str, int]
"""The kind (tcp, udp or abstract), the address and the port."""

LOOPBACK, ABSTRACT = "127.0.0.1 of this machine", "abstract sockets of this machine"
INTERNET, NEIGHBOURS = "the internet", "the local network"

_FOREIGN = ("192.0.2.1", 9)
"""An address of nobody (RFC 5737); finding the way to it sends nothing."""

_SECONDS = 5.0


class Services(Struct, frozen=True):
    """Addresses to which an inspection tries to connect, by the names of rows; a machine without a network has the first two only."""

    addresses: Mapping[str, Address]
    listeners: Mapping[str, socket.socket]

    def visited(self) -> dict[str, bool]:
        """True for a service to which somebody came."""
        came = {}
        for name, listener in self.listeners.items():
            listener.setblocking(False)
            with contextlib.suppress(BlockingIOError):
                listener.accept()[0].close()
                came[name] = True
        return {name: name in came for name in self.listeners}


@contextmanager
def services() -> Iterator[Services]:
    """Open them; error: OSError if we do not reach them ourselves, since then an attempt would prove nothing."""
    name = f"parachute-inspection-{os.urandom(8).hex()}"
    with socket.create_server(("127.0.0.1", 0)) as loopback, socket.socket(socket.AF_UNIX) as abstract:
        abstract.bind(f"\0{name}")
        abstract.listen()
        for listener in (loopback, abstract):
            with socket.socket(listener.family) as visitor:
                visitor.settimeout(_SECONDS)
                visitor.connect(listener.getsockname())
                listener.accept()[0].close()
        port = loopback.getsockname()[1]
        addresses: dict[str, Address] = {LOOPBACK: ("tcp", "127.0.0.1", port), ABSTRACT: ("abstract", name, 0)}
        if own := _own_address():
            addresses |= {INTERNET: ("udp", *_FOREIGN), NEIGHBOURS: ("tcp", own, port)}
        yield Services(addresses, {LOOPBACK: loopback, ABSTRACT: abstract})


def _own_address() -> str | None:
    """The address of this machine in its network, or None if it has no way out."""
    with socket.socket(type=socket.SOCK_DGRAM) as finder:
        try:
            finder.connect(_FOREIGN)
        except OSError:
            return None
        address: str = finder.getsockname()[0]
        return None if address.startswith("127.") else address
