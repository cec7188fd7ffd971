"""Internet addresses: reading them as they come in requests, and those of this computer."""

import fcntl
import socket
import struct
import sys
from ipaddress import IPv4Address, IPv6Address, ip_address
from pathlib import Path

Address = IPv4Address | IPv6Address

# The request numbers of <net/if.h>; both systems put the address at byte 20 of the answer.
_SIOCGIFADDR = 0x8915 if sys.platform == "linux" else 0xC0206921
_ADDRESS_AT = 20


def parse_address(text: str) -> Address | None:
    """The address that the text is, without brackets and zone, None if it is none; `::ffff:1.2.3.4` is 1.2.3.4."""
    if text.startswith("[") and text.endswith("]"):
        text = text[1:-1]
    try:
        address = ip_address(text.partition("%")[0])
    except ValueError:
        return None
    return (isinstance(address, IPv6Address) and address.ipv4_mapped) or address


def is_loopback(host: str) -> bool:
    """True if a server that listens on this host can be reached from this computer only."""
    address = parse_address(host)
    return address.is_loopback if address is not None else host.lower() == "localhost"


def own_addresses() -> frozenset[Address]:
    """The addresses of this computer's network interfaces; asks the kernel only, never a name server."""
    found: set[Address] = {address for _, address in interface_addresses()}
    try:
        lines = Path("/proc/net/if_inet6").read_text(encoding="ascii").splitlines()
    except OSError:
        lines = []  # no IPv6, or no Linux
    found.update(IPv6Address(bytes.fromhex(line.split()[0])) for line in lines)
    return frozenset(address for address in found if not address.is_unspecified)


def is_elsewhere(text: str | None) -> bool:
    """Return whether this is an address of another device; no address is none. Asks the kernel."""
    address = parse_address(text or "")
    return address is not None and not address.is_loopback and address not in own_addresses()


def interface_addresses() -> list[tuple[str, IPv4Address]]:
    """The names of this computer's network interfaces with their address of version 4; those without one are left out."""
    found: list[tuple[str, IPv4Address]] = []
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        for _, name in socket.if_nameindex():
            request = struct.pack("256s", name.encode()[:15])
            try:
                answer = fcntl.ioctl(probe.fileno(), _SIOCGIFADDR, request)
            except OSError:
                continue  # an interface without an IPv4 address
            found.append((name, IPv4Address(answer[_ADDRESS_AT : _ADDRESS_AT + 4])))
    return found
