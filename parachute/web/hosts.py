"""The names under which this computer may be called: a page whose name was pointed here is not among them."""

import re
import socket
import time
from collections.abc import Iterable

from parachute.errors import InvalidInput, NotAllowed
from parachute.web.addresses import Address, own_addresses, parse_address

_HOST = re.compile(r"(\[[0-9a-fA-F:.]{2,45}\]|[A-Za-z0-9._-]{1,255})(?::([0-9]{1,5}))?", re.ASCII)
_NAME = re.compile(r"[a-z0-9]([a-z0-9._-]{0,253}[a-z0-9])?")
_REFRESH_SECONDS = 5.0
_MAXIMUM_REMEMBERED = 256


class MalformedHost(InvalidInput):
    """The Host header is missing or is no host."""

    status = 400
    key = "malformed_host"


class HostNotListed(NotAllowed):
    """The Host header names no computer that we are."""

    key = "host_not_listed"


class HostAllowList:
    """Decides by the Host header; its port does not matter, as the connection has reached us on ours.

    Errors: InvalidInput for a configured name that is none.
    """

    def __init__(self, hostnames: Iterable[str] = (), bind: str = "127.0.0.1") -> None:
        self._configured: set[str | Address] = {_configured(name) for name in hostnames}
        address = parse_address(bind)
        if address is None:
            if bind:
                self._configured.add(bind.lower())
        elif not address.is_unspecified:
            self._configured.add(address)
        self._remembered: set[bytes] = set()
        self._own: set[str | Address] = set()
        self._refreshed = 0.0
        self._refresh()

    def check(self, host: bytes | None, server: str | None = None) -> None:
        """Let the host pass or raise MalformedHost or HostNotListed; `server` is our own end of the connection."""
        if host is None:
            raise MalformedHost("The header Host is missing.", "Send the name of this computer, such as localhost.")
        if host in self._remembered:
            return
        match = _HOST.fullmatch(host.decode("latin-1"))
        name = _normal(match[1]) if match else None
        if not match or name is None or int(match[2] or 0) > 65535:
            raise MalformedHost("The header Host is not a name or an address with an optional port.")
        if not self._is_listed(name, server):
            raise HostNotListed(
                f"This computer is not called {match[1]} here.",
                f"If it should be, add the name with: parachute config set hostnames {match[1]}",
            )
        if len(self._remembered) >= _MAXIMUM_REMEMBERED:
            self._remembered.clear()
        self._remembered.add(host)

    def _is_listed(self, name: str | Address, server: str | None) -> bool:
        if name in self._configured or name in self._own:
            return True
        if not isinstance(name, str):
            if name.is_loopback or (server is not None and not name.is_unspecified and name == parse_address(server)):
                return True
        elif name == "localhost":
            return True
        # The network or the computer's name may have changed since we looked.
        return self._refresh() and name in self._own

    def _refresh(self) -> bool:
        now = time.monotonic()
        if self._own and now - self._refreshed < _REFRESH_SECONDS:
            return False
        self._refreshed = now
        full = socket.gethostname().lower().rstrip(".")
        short = full.partition(".")[0]
        self._own = {*own_addresses(), *((full, short, f"{short}.local") if short else ())}
        return True


def _normal(host: str) -> str | Address | None:
    address = parse_address(host)
    if address is not None:
        return address
    name = host.lower().removesuffix(".")
    return None if host.startswith("[") or not name else name


def _configured(text: str) -> str | Address:
    name = text.strip().lower()
    address = parse_address(name)
    if address is None and not _NAME.fullmatch(name):
        raise InvalidInput(
            f"hostnames: {text[:100]!r} is neither a name nor an address.",
            "Write it without scheme, port or *, such as parachute.example.org.",
        )
    return name if address is None else address
