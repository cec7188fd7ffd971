"""The addresses under which another device reaches the computer."""

import socket
from collections.abc import Iterable
from ipaddress import IPv4Address
from pathlib import Path

from parachute.base.addresses import Address, interface_addresses, is_loopback, own_addresses, parse_address

# Addresses of documentation (RFC 5737, 3849): asking the kernel for the way there sends nothing.
_ELSEWHERE = ((socket.AF_INET, "192.0.2.1"), (socket.AF_INET6, "2001:db8::1"))
_MOST = 3


def addresses(host: str, port: int, name: str | None, scheme: str = "http") -> list[str]:
    """URLs of the server, the best first; `host` is what it listens on, `name` its name on the local network.

    A server that only this computer reaches has one on loopback.
    """
    address = parse_address(host)
    if is_loopback(host):
        return [_url(scheme, "localhost" if address is None else str(address), port)]
    if address is not None and not address.is_unspecified:
        hosts = [str(address)]
    elif address is None and host:
        hosts = [host]
    else:
        hosts = [str(found) for found in _reachable()[:_MOST]]
    return [_url(scheme, found, port) for found in ([name] if name else []) + hosts]


def home_addresses() -> list[IPv4Address]:
    """The addresses at which devices of the same network reach this computer, that of the way to elsewhere first.

    Bridges lead to containers and virtual machines of this computer, unless the way to elsewhere goes over one.
    """
    first = _source(*_ELSEWHERE[0])
    bridged = {address for name, address in interface_addresses() if Path("/sys/class/net", name, "bridge").exists()}
    found = [
        each for each in _usable(own_addresses() - bridged) if isinstance(each, IPv4Address) and not each.is_global
    ]
    here = [first] if isinstance(first, IPv4Address) and not first.is_global else []
    return list(dict.fromkeys([*here, *found]))


def public_addresses() -> list[Address]:
    """The addresses of version 4 at which the internet may reach this computer."""
    return [each for each in _usable(own_addresses()) if each.version == 4 and each.is_global]


def _url(scheme: str, host: str, port: int) -> str:
    shown = f"[{host}]" if ":" in host else host
    return f"{scheme}://{shown}:{port}"


def _reachable() -> list[Address]:
    """The addresses that the way to elsewhere begins with; without such a way all that others could reach."""
    routed = [address for family, far in _ELSEWHERE if (address := _source(family, far)) is not None]
    return routed or _usable(own_addresses())


def _source(family: socket.AddressFamily, far: str) -> Address | None:
    with socket.socket(family, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect((far, 9))
            found = parse_address(str(probe.getsockname()[0]))
        except OSError:
            return None
    return found if found is not None and _usable([found]) else None


def _usable(addresses: Iterable[Address]) -> list[Address]:
    found = [address for address in addresses if not (address.is_loopback or address.is_link_local)]
    return sorted(found, key=lambda address: (address.version, int(address)))
