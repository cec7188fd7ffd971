"""The names and addresses under which this computer is called, for its certificate."""

import socket
from collections.abc import Iterable
from ipaddress import IPv4Address, ip_network

from parachute.base.addresses import Address, own_addresses, parse_address

PRIVATE = tuple(
    ip_network(each)
    for each in (
        "10.0.0.0/8",
        "172.16.0.0/12",
        "192.168.0.0/16",
        "169.254.0.0/16",
        # Between the devices of a private network such as Tailscale's.
        "100.64.0.0/10",
        "127.0.0.0/8",
        "fc00::/7",
        "fe80::/10",
        "::1/128",
    )
)
"""Networks whose addresses nobody has on the internet, so that a certificate for one of them is worth nothing there."""

_MOST = 50


def is_private(address: Address) -> bool:
    """True for an address that only means something at home."""
    return any(address in network for network in PRIVATE)


def own_names(hostnames: Iterable[str], announced: str | None) -> list[str]:
    """All of them, the best first; `announced` is the name that Avahi gives, `hostnames` those of the settings."""
    full = socket.gethostname().lower().rstrip(".")
    short = full.partition(".")[0]
    named = [announced, f"{short}.local" if short else None, full if "." in full else None]
    configured = [str(parse_address(name) or name).lower() for name in map(str.strip, hostnames)]
    return list(dict.fromkeys([name for name in named if name] + configured + ["localhost", *_addresses()]))


def _addresses() -> list[str]:
    """Version 4 first. Addresses of version 6 that the internet knows change each day; who wants one can name it."""
    found = [each for each in own_addresses() if isinstance(each, IPv4Address) or is_private(each)]
    used = sorted((each for each in found if not each.is_link_local), key=lambda each: (each.version, int(each)))
    return [str(each) for each in used[:_MOST]]


def permits(permitted: Iterable[str], name: str) -> bool:
    """Return whether an authority that is limited to these names and networks may sign a name or an address (RFC 5280, 4.2.1.10)."""
    address = parse_address(name)
    for each in permitted:
        if "/" in each:
            if address is not None and address in ip_network(each):
                return True
        elif address is None and (name == each or name.endswith(f".{each}")):
            return True
    return False


def limits(names: Iterable[str]) -> list[str]:
    """Return the constraints of an authority for these names: the names, private networks, and every other single address.

    A name without a dot would stand for all names that end in it: a machine that is called `dev` must not sign for `.dev`.
    """
    addresses = {name: parse_address(name) for name in names}
    named = [name for name, address in addresses.items() if address is None and ("." in name or name == "localhost")]
    others = [address for address in addresses.values() if address is not None and not is_private(address)]
    single = [str(ip_network(each)) for each in others]
    return [*named, *map(str, PRIVATE), *single]
