"""The origin of a request behind reverse proxies."""

import re
from collections.abc import Iterable, Sequence
from ipaddress import IPv4Network, IPv6Network, ip_network

from msgspec import Struct

from parachute.base.addresses import Address, parse_address
from parachute.base.errors import InvalidInput

# One element of RFC 7239's Forwarded: for=1.2.3.4, for="1.2.3.4:80", for="[2001:db8::1]:80", for=unknown.
_FOR = re.compile(r"(?:^|;)\s*for\s*=\s*\"?(\[[^\]]*\]|[^:;\",]*)", re.IGNORECASE)
_PORT = re.compile(r"(\[[^\]]*\]|[^:]*):\d{1,5}")
_MAXIMUM_HOPS = 32

# Any of these shows that a proxy passed the request on, whether or not we believe what it says.
PROXY_MARKS = frozenset(
    (b"forwarded", b"via", b"x-real-ip", b"x-client-ip", b"x-cluster-client-ip", b"true-client-ip", b"cf-connecting-ip")
)
PROXY_MARK_PREFIX = b"x-forwarded-"


class Client(Struct, frozen=True):
    """The client of a request.

    `address` is the caller's own as far as it is known; `is_local` is true only for a direct loopback connection, and
    `is_vouched` only for what a configured proxy passed on. `is_other_user` is for a direct one that is not the owner's.
    """

    address: str
    is_local: bool
    is_forwarded: bool
    is_vouched: bool = False
    is_other_user: bool = False


class ProxyPolicy:
    """Policy for forwarded headers: those of configured proxies count; errors: InvalidInput for one that is no address.

    A request through a proxy is never local, whatever the headers say: a proxy that passes on what a stranger
    wrote into them would make everyone local.
    """

    def __init__(self, trusted_proxies: Iterable[str] = ()) -> None:
        self._trusted = tuple(_network(text) for text in trusted_proxies)

    def client(self, peer: str | None, marks: Sequence[tuple[bytes, bytes]]) -> Client:
        """Return who sent a request that came from this peer with these proxy headers."""
        address = parse_address(peer) if peer else None
        if address is None:
            return Client(peer or "unknown", False, bool(marks))
        if not self._is_trusted(address):
            return Client(str(address), address.is_loopback and not marks, bool(marks))
        # A configured proxy that adds no header hides who is behind it, so its own address counts for nothing.
        return Client(self._behind(marks) or str(address), False, True, True)

    def scheme(self, client: Client, scheme: str, marks: Sequence[tuple[bytes, bytes]]) -> str:
        """Return the scheme that the caller used, which of a configured proxy its header tells."""
        said = [value for name, value in marks if name == b"x-forwarded-proto"]
        return "https" if client.is_vouched and said == [b"https"] else scheme

    def _behind(self, marks: Sequence[tuple[bytes, bytes]]) -> str | None:
        hops = _hops(marks, b"x-forwarded-for") or _hops(marks, b"forwarded")
        nearest: Address | None = None
        # Each proxy appends: from the right, the first that is no proxy of ours is the one they saw.
        for hop in reversed(hops[-_MAXIMUM_HOPS:]):
            address = parse_address(hop)
            if address is None:
                return None
            nearest = address
            if not self._is_trusted(address):
                break
        return str(nearest) if nearest else None

    def _is_trusted(self, address: Address) -> bool:
        return any(address in network for network in self._trusted)


def _hops(marks: Sequence[tuple[bytes, bytes]], header: bytes) -> list[str]:
    elements = [part.strip() for name, value in marks if name == header for part in value.decode("latin-1").split(",")]
    if header == b"forwarded":
        found = [_FOR.search(element) for element in elements]
        return [match[1] if match else "" for match in found]
    return [match[1] if (match := _PORT.fullmatch(element)) else element for element in elements]


def _network(text: str) -> IPv4Network | IPv6Network:
    try:
        return ip_network(text.strip())
    except ValueError as error:
        raise InvalidInput(
            f"trusted_proxies: {text[:100]!r} is neither an address nor a network.",
            "Write them such as 192.168.1.5 or 10.0.0.0/8.",
            key="invalid_proxy",
        ) from error
