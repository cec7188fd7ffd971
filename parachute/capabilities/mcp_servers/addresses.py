"""Addresses of MCP servers elsewhere, and of those that people sign in at: TLS, but for machines at home."""

import ipaddress
from urllib.parse import urlsplit

from msgspec import Struct

from parachute.sandbox.egress.addresses import OWN, PRIVATE, not_public
from parachute.sandbox.egress.hosts import is_address, is_at_home, split
from parachute.sandbox.egress.models import Target

_LIMIT = 2_000
_PORTS = {"https": 443, "http": 80}


class Address(Struct, frozen=True):
    """An address in its normal form."""

    scheme: str
    target: Target
    path: str

    @property
    def origin(self) -> str:
        """Scheme, host and port; without the port that the scheme has anyway."""
        host = f"[{self.target.host}]" if ":" in self.target.host else self.target.host
        port = "" if self.target.port == _PORTS[self.scheme] else f":{self.target.port}"
        return f"{self.scheme}://{host}{port}"

    def __str__(self) -> str:
        return f"{self.origin}{self.path}"


def parse(text: str) -> Address:
    """Read an address; error: ValueError with the reason."""
    if len(text) > _LIMIT or not text.isascii() or not text.isprintable() or set(text) & set(' "<>\\^`{|}'):
        raise ValueError(f"expected an address of up to {_LIMIT:,} characters, as a browser shows it")
    parts = urlsplit(text)
    if parts.scheme not in _PORTS:
        raise ValueError("expected an address that begins with https://")
    if "@" in parts.netloc or "#" in text:
        raise ValueError("a user name, a password and # have no place in it")
    host, port = split(parts.netloc, _PORTS[parts.scheme])
    assert port is not None
    if is_address(host):
        reason = not_public(ipaddress.ip_address(host))
        if reason not in (None, PRIVATE, OWN):
            raise ValueError(f"it is {reason}")
    elif "." not in host and host != "localhost":
        raise ValueError("its host has only one part; write the whole name, or the address in numbers")
    if parts.scheme == "http" and not is_at_home(host):
        raise ValueError("only machines at home are called without TLS: write https://")
    return Address(parts.scheme, Target(host, port), f"{parts.path}?{parts.query}" if parts.query else parts.path)
