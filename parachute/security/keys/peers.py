"""The user of this computer at the other end of a loopback connection."""

import asyncio
import os
import sys
from collections import OrderedDict
from ipaddress import IPv4Address, IPv6Address
from pathlib import Path

from parachute.base.addresses import Address, parse_address

Peer = tuple[str, int]

_TABLES = (Path("/proc/net/tcp"), Path("/proc/net/tcp6"))
_ESTABLISHED = b"01"
_MAXIMUM_BYTES = 8 * 1024 * 1024
_MAXIMUM_KNOWN = 512


class Peers:
    """The owners of the programs at the other end of connections; the kernel is asked once for each connection."""

    def __init__(self) -> None:
        self._known: OrderedDict[int, tuple[Peer, bool]] = OrderedDict()

    async def is_own(self, client: Peer | None, server: Peer | None) -> bool | None:
        """Return whether a program of our own user connected from `client` to our `server`; None where the system cannot tell.

        `client` must be the same object for all requests of a connection, as it is in uvicorn.
        """
        if sys.platform != "linux":
            return None
        if client is None or server is None:
            return False
        # By identity: another user's next connection may come from the same port. What is kept cannot be another object.
        known = self._known.get(id(client))
        if known is not None:
            return known[1]
        answer = await asyncio.to_thread(is_own_process, client, server)
        self._known[id(client)] = client, answer
        if len(self._known) > _MAXIMUM_KNOWN:
            self._known.popitem(last=False)
        return answer


def is_own_process(client: Peer | None, server: Peer | None) -> bool:
    """Return whether the process that connected from `client` to our `server` runs as our own user.

    Reads the kernel's tables, so call it outside of an event loop. Where they are missing the answer is no.
    """
    if client is None or server is None:
        return False
    uid = _uid_of_socket(client, server)
    return uid is not None and uid == os.geteuid()


def _uid_of_socket(client: Peer, server: Peer) -> int | None:
    near, far = parse_address(client[0]), parse_address(server[0])
    if near is None or far is None or not near.is_loopback:
        return None
    for table in _TABLES:
        # A program may reach an IPv4 address through an IPv6 socket, which the second table lists.
        is_second = table.name.endswith("6")
        local, remote = _entry(near, client[1], is_second), _entry(far, server[1], is_second)
        if local is None or remote is None:
            continue
        try:
            with table.open("rb") as file:
                lines = file.read(_MAXIMUM_BYTES).split(b"\n")
        except OSError:
            continue
        for line in lines:
            fields = line.split()
            if len(fields) > 9 and fields[1] == local and fields[2] == remote:
                # A socket that its process has closed belongs to nobody, and the kernel then says user 0.
                is_held = fields[3] == _ESTABLISHED and fields[9] != b"0"
                return int(fields[7]) if is_held else None
    return None


def _entry(address: Address, port: int, is_version_6: bool) -> bytes | None:
    if is_version_6:
        packed = (address if isinstance(address, IPv6Address) else IPv6Address(f"::ffff:{address}")).packed
    elif isinstance(address, IPv4Address):
        packed = address.packed
    else:
        return None
    # The kernel prints each 32-bit word of the address in the order of the processor.
    words = (packed[start : start + 4] for start in range(0, len(packed), 4))
    hexadecimal = "".join((word[::-1] if sys.byteorder == "little" else word).hex().upper() for word in words)
    return f"{hexadecimal}:{port:04X}".encode()
