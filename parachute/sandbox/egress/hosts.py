"""Names of hosts in one normal form, and the list of those that a listener may reach."""

import ipaddress
import re
from collections.abc import Iterable

import idna
from msgspec import Struct

from parachute.base.errors import InvalidInput
from parachute.sandbox.egress import addresses
from parachute.sandbox.egress.models import Target

DEFAULT_PORTS = frozenset((443, 80))
"""TLS, and plain HTTP for what redirects to it; any other port is named."""

_ENTRIES = 256
_ENTRY_CHARACTERS = 300
_NAME_BYTES = 253  # RFC 1035, without the closing dot
_LABEL = re.compile(r"(?!-)[a-z0-9_-]{1,63}(?<!-)")
_NUMBER = re.compile(r"[0-9]+|0x[0-9a-f]*")
_HOME = (".home.arpa", ".internal", ".lan", ".local")
"""Ends of names that are only known at home (RFC 8375, RFC 6762, ICANN's .internal); .lan is what routers use."""

_SHAPE = re.compile(r"(\[[^\]]*\]|[^:\[\]]+)(?::([0-9]{1,5}))?")


def split(text: str, port: int | None = None) -> tuple[str, int | None]:
    """`host`, `host:port` or `[address]:port` as (normal host, port); errors: ValueError with the reason."""
    match = _SHAPE.fullmatch(text)
    if match is None:
        raise ValueError("not a host name, optionally with `:port`; write an IPv6 address in brackets")
    if match[2] is not None:
        port = int(match[2])
        if not 1 <= port <= 65535:
            raise ValueError("the port is not between 1 and 65535")
    return normal(match[1]), port


def normal(host: str) -> str:
    """A host name in lower case, as IDNA A-labels, without a closing dot, or an address in its one short form.

    Error: ValueError with the reason.
    """
    if host.startswith("["):
        try:
            if not host.endswith("]"):
                raise ValueError("it has no closing bracket")
            return str(ipaddress.IPv6Address(host[1:-1]))  # with a zone it is refused as not public
        except ValueError as error:
            raise ValueError("the text in brackets is not an IPv6 address") from error
    if not host.isascii():
        try:
            host = idna.encode(host, uts46=True).decode()
        except (idna.IDNAError, UnicodeError) as error:
            raise ValueError("it is not an international domain name") from error
    host = host.lower().removesuffix(".")
    labels = host.split(".")
    if _NUMBER.fullmatch(labels[-1]):
        # System libraries read 127.1, 0x7f.1 and 2130706433 as addresses: only the usual form is one here.
        try:
            return str(ipaddress.IPv4Address(host))
        except ValueError as error:
            raise ValueError("it ends in a number and is not an IPv4 address of four numbers") from error
    if len(host) > _NAME_BYTES or not all(_LABEL.fullmatch(label) for label in labels):
        raise ValueError("it is not a host name of letters, digits, `-` and `.`")
    return host


def is_address(host: str) -> bool:
    """True for a normal host that is an address."""
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


class Pattern(Struct, frozen=True):
    """One entry of a list: a host, or every name below it; without a port it stands for 443 and 80."""

    host: str
    below: bool
    port: int | None

    @classmethod
    def parse(cls, text: object, *, private: bool = False) -> "Pattern":
        """Read an entry; `private`: it may name a machine of the network at home. Error: ValueError with the reason."""
        if not isinstance(text, str) or len(text) > _ENTRY_CHARACTERS:
            raise ValueError("it is not a host name")
        below = text.startswith("*.")
        host, port = split(text[2:] if below else text)
        if is_address(host):
            if below:
                raise ValueError("an address has nothing below it")
            reason = addresses.not_public(ipaddress.ip_address(host))
            if reason and not (private and reason == addresses.PRIVATE):
                raise ValueError(f"it is {reason}")
        elif "." not in host:
            raise ValueError("it has only one part, such as the names of machines in a home network")
        return cls(host, below, port)

    @property
    def is_private(self) -> bool:
        """True for a machine of the network at home: a private address, or a name that no public name server gives."""
        if is_address(self.host):
            return addresses.not_public(ipaddress.ip_address(self.host)) is not None
        return not self.below and self.host.endswith(_HOME)

    def allows(self, target: Target) -> bool:
        """True if a request may go there."""
        if target.port not in (DEFAULT_PORTS if self.port is None else (self.port,)):
            return False
        # A `*.` entry ends in a name, never in a number, so no address can match it.
        return target.host.endswith(f".{self.host}") if self.below else target.host == self.host

    def refuses(self, host: str, port: int | None) -> bool:
        """True if it stands for a host where it is refused: without a port of its own for every port there."""
        if self.port is not None and self.port != port:
            return False
        return host.endswith(f".{self.host}") if self.below else host == self.host

    def covers(self, other: "Pattern") -> bool:
        """True if it stands for everything that another entry stands for."""
        if self.port is not None and self.port != other.port:
            return False
        if self.port is None and other.port is not None and other.port not in DEFAULT_PORTS:
            return False
        if not self.below:
            return not other.below and self.host == other.host
        return other.host.endswith(f".{self.host}") or (other.below and other.host == self.host)

    def __str__(self) -> str:
        name = f"[{self.host}]" if ":" in self.host else self.host
        return f"{'*.' if self.below else ''}{name}{'' if self.port is None else f':{self.port}'}"


class AllowedHosts(Struct, frozen=True):
    """The hosts that a listener may reach; an empty list reaches nothing, and `refused` ones go before all that is allowed."""

    patterns: tuple[Pattern, ...]
    refused: tuple[Pattern, ...] = ()

    @classmethod
    def parse(cls, hosts: Iterable[object], *, private: bool = False, refused: Iterable[object] = ()) -> "AllowedHosts":
        """Read a list such as `["api.example.org", "*.example.org:8443"]`; error: InvalidInput naming each wrong entry.

        `private`: the owner wrote it, and may name machines of the network at home. A refused entry without a port is of all ports.
        """
        return cls(cls._patterns(hosts, private=private), cls._patterns(refused, private=True))

    @staticmethod
    def _patterns(hosts: Iterable[object], *, private: bool) -> tuple[Pattern, ...]:
        patterns, problems = [], []
        for index, entry in enumerate(hosts):
            if index >= _ENTRIES:
                problems.append(f"there are more than {_ENTRIES} entries")
                break
            try:
                patterns.append(Pattern.parse(entry, private=private))
            except ValueError as error:
                problems.append(f"{str(entry)[:80]!r}: {error}")
        if problems:
            raise InvalidInput(
                f"hosts: {'; '.join(problems)}.",
                "Write names such as `api.example.org`, `*.example.org` or `api.example.org:8443`.",
                key="invalid_hosts",
            )
        return tuple(dict.fromkeys(patterns))

    def refuses(self, target: Target) -> bool:
        """True if a request was refused, whatever the list allows."""
        return any(pattern.refuses(target.host, target.port) for pattern in self.refused)

    def allows(self, target: Target) -> bool:
        """True if a request may go there."""
        return not self.refuses(target) and any(pattern.allows(target) for pattern in self.patterns)

    def allows_private(self, target: Target) -> bool:
        """True if a request may also go to a private address, because the list names that machine."""
        return not self.refuses(target) and any(each.is_private and each.allows(target) for each in self.patterns)

    def cover(self, entry: str) -> bool:
        """True if they allow what another entry does, of a `*.` perhaps without refused ones; error: ValueError for what is none."""
        wanted = Pattern.parse(entry, private=True)
        is_refused = any(pattern.refuses(wanted.host, wanted.port) for pattern in self.refused)
        return not is_refused and any(pattern.covers(wanted) for pattern in self.patterns)

    def common(self, other: "AllowedHosts") -> "AllowedHosts":
        """Return the hosts that both lists allow."""
        both = [each for each in self.patterns if any(wide.covers(each) for wide in other.patterns)]
        both += [each for each in other.patterns if any(wide.covers(each) for wide in self.patterns)]
        return AllowedHosts(tuple(dict.fromkeys(both)), (*self.refused, *other.refused))

    def texts(self) -> list[str]:
        """The entries in their normal form."""
        return [str(pattern) for pattern in self.patterns]


def is_at_home(host: str) -> bool:
    """True for a normal host that is a machine of the network at home by its name or address, and for this machine."""
    return is_this_machine(host) or Pattern(host, below=False, port=None).is_private


def is_this_machine(host: str) -> bool:
    """True for `localhost`, and for an address that may be one of this machine: a name of others could be pointed here."""
    if is_address(host):
        return addresses.not_public(ipaddress.ip_address(host)) in (addresses.OWN, addresses.PRIVATE)
    return host == "localhost"
