"""The names under which this computer may be called: a page whose name was pointed here is not among them."""

import asyncio
import re
import socket
import time
from collections.abc import Awaitable, Callable, Iterable

from parachute.base.addresses import Address, own_addresses, parse_address
from parachute.base.errors import InvalidInput, NotAllowed
from parachute.web.discovery.avahi import announced_name

_HOST = re.compile(r"(\[[0-9a-fA-F:.]{2,45}\]|[A-Za-z0-9._-]{1,255})(?::([0-9]{1,5}))?", re.ASCII)
_NAME = re.compile(r"[a-z0-9]([a-z0-9._-]{0,253}[a-z0-9])?")
_ANNOUNCED = re.compile(r"([a-z0-9-]{1,63}\.local)\.?(?::[0-9]{1,5})?", re.ASCII | re.IGNORECASE)
_REFRESH_SECONDS = 5.0
_BELIEVED_SECONDS = 60.0
_MAXIMUM_REMEMBERED = 256


class HostNotListed(NotAllowed):
    """The Host header names no computer that we are."""

    key = "host_not_listed"


class HostAllowList:
    """Allow-list for the Host header; its port does not matter, as the connection has reached us on ours.

    `announced` returns the name that we were given on the local network when ours was taken. Errors: InvalidInput for a
    configured name that is none.
    """

    def __init__(
        self,
        hostnames: Iterable[str] = (),
        bind: str = "127.0.0.1",
        announced: Callable[[], Awaitable[str | None]] = announced_name,
    ) -> None:
        self._announced = announced
        self._announcing = asyncio.Lock()
        self._name: str | None = None
        self._asked = -_BELIEVED_SECONDS
        self._configured: set[str | Address] = {_configured(name) for name in hostnames}
        address = parse_address(bind)
        if address is None:
            if bind:
                self._configured.add(bind.lower())
        elif not address.is_unspecified:
            self._configured.add(address)
        self._remembered: dict[bytes, bool] = {}
        self._own: set[str | Address] = set()
        self._refreshed = 0.0
        self._refresh()

    async def admit(self, host: bytes | None, server: str | None = None) -> bool:
        """Check the host, and accept the name under which we are announced on the local network."""
        try:
            return self.check(host, server)
        except HostNotListed:
            match = _ANNOUNCED.fullmatch((host or b"").decode("latin-1"))
            # A rule such as our name with any number behind it would do for a stranger's computer of that name, too.
            if match is None or not await self._is_announced(match[1].lower()):
                raise
            return False

    def check(self, host: bytes | None, server: str | None = None) -> bool:
        """Let the host pass or raise InvalidInput or HostNotListed; `server` is our own end of the connection.

        Returns whether it is ours whatever others say: an address or localhost. Who answers for the network's names may
        have given any other one to a page of theirs, and pointed it here since.
        """
        if host is None:
            raise InvalidInput(
                "The header Host is missing.",
                "Send the name of this computer, such as localhost.",
                status=400,
                key="malformed_host",
            )
        if (is_certain := self._remembered.get(host)) is not None:
            return is_certain
        match = _HOST.fullmatch(host.decode("latin-1"))
        name = _normal(match[1]) if match else None
        if not match or name is None or int(match[2] or 0) > 65535:
            raise InvalidInput(
                "The header Host is not a name or an address with an optional port.", status=400, key="malformed_host"
            )
        if not self._is_listed(name, server):
            raise HostNotListed(
                f"This computer is not called {match[1]} here.",
                f"If it should be: `parachute config add hostnames {match[1]}`, then `parachute restart`.",
            )
        if len(self._remembered) >= _MAXIMUM_REMEMBERED:
            self._remembered.clear()
        is_certain = name == "localhost" or not isinstance(name, str)
        self._remembered[host] = is_certain
        return is_certain

    async def _is_announced(self, name: str) -> bool:
        async with self._announcing:
            age = time.monotonic() - self._asked
            # Strangers may name whatever they like: they must not make us ask each time.
            if age >= (_BELIEVED_SECONDS if name == self._name else _REFRESH_SECONDS):
                self._name = await self._announced()
                self._asked = time.monotonic()
            return name == self._name

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
            key="invalid_hostname",
        )
    return name if address is None else address
