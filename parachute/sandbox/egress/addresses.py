"""Distinction of addresses of the internet from those of this machine and its neighbours."""

import socket
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network

Address = IPv4Address | IPv6Address

PRIVATE = "a private address"
OWN = "this machine"

_GLOBAL_UNICAST = ip_network("2000::/3")
"""The one range that IANA gives out for IPv6; everything that embeds or translates lies outside, but for the next ones."""

_SPECIAL = (
    (ip_network("2002::/16"), "an address that embeds another one (6to4)"),
    (ip_network("2001::/23"), "an address that embeds another one (Teredo) or is reserved"),
    (ip_network("3fff::/20"), "an address for documentation"),
    (ip_network("192.88.99.0/24"), "a relay of 6to4"),
    (ip_network("192.0.0.0/24"), "a reserved address"),
)
_TRANSLATED = (ip_network("64:ff9b::/96"), ip_network("64:ff9b:1::/48"))


def not_public(address: Address) -> str | None:
    """The kind of an address that is not of the internet, or None if it is.

    Python's own tables change between versions, and call translated and embedding addresses global: these are checked first.
    """
    if isinstance(address, IPv6Address) and (reason := _not_public_6(address)):
        return reason
    for network, reason in _SPECIAL:
        if address.version == network.version and address in network:
            return reason
    for test, reason in (
        (address.is_unspecified, "no address of a machine"),
        (address.is_loopback, OWN),
        (address.is_link_local, "a link-local address"),
        (address.is_multicast, "a multicast address"),
        (address.is_private, PRIVATE),
        (address.is_reserved, "a reserved address"),
        (not address.is_global, "not an address of the internet"),
    ):
        if test:
            return reason
    return None


def _not_public_6(address: IPv6Address) -> str | None:
    if address.scope_id is not None:
        return "an address of one network interface"
    if address.ipv4_mapped is not None:
        return "an IPv4 address in IPv6 form"
    if any(address in network for network in _TRANSLATED):
        return "a translated IPv4 address (NAT64)"
    if address.is_loopback or address.is_unspecified or address.is_link_local or address.is_multicast:
        return None  # the caller has a better word for these, and refuses them
    return None if address in _GLOBAL_UNICAST else "not an address of the internet"


def is_own(address: Address) -> bool:
    """True if this machine itself answers to an address: then a program can bind to it. Nothing is sent."""
    family = socket.AF_INET if address.version == 4 else socket.AF_INET6
    try:
        with socket.socket(family, socket.SOCK_DGRAM) as probe:
            probe.bind((str(address), 0))
    except OSError:
        return False
    return True


def refusal(text: str, *, private: bool = False, own: bool = False) -> str | None:
    """The reason why nothing may connect to an address, as its kind; None if it may.

    `private`: also to one at home. `own`: also to this machine.
    """
    try:
        address = ip_address(text)
    except ValueError:
        return "not an address"
    reason = not_public(address)
    if reason and not (private and reason == PRIVATE) and not (own and reason == OWN):
        return reason
    return OWN if not own and is_own(address) else None
