"""The programs that have registered themselves: in memory until the owner lets one in."""

import secrets
import unicodedata
from collections.abc import Iterable
from datetime import timedelta
from urllib.parse import urlsplit

from parachute.base.addresses import is_loopback
from parachute.base.clock import Clock
from parachute.base.errors import InvalidInput
from parachute.security.mcp_clients.models import Client

_MOST = 100
_KEPT = timedelta(days=1)
_REDIRECTS = 10
_LONGEST = 500
_NAME = 80


class Registrations:
    """Clients without a grant: the oldest goes when there are too many, and each after a day."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._known: dict[str, Client] = {}

    def add(self, identifier: str, name: str | None, redirects: Iterable[str], scope: str | None) -> Client:
        """Register a client; error: InvalidInput for addresses to which no browser is sent."""
        found = tuple(redirects)
        if not 1 <= len(found) <= _REDIRECTS or not all(map(_is_redirect, found)):
            raise InvalidInput(
                f"redirect_uris: up to {_REDIRECTS} addresses are expected that begin with https://, or lead to this computer by http://localhost or http://127.0.0.1.",
                key="invalid_redirect",
            )
        if scope is not None and (len(scope) > _LONGEST or not scope.isprintable()):
            raise InvalidInput(f"scope: at most {_LONGEST} characters are allowed.", key="invalid_scope")
        now = self._clock.now()
        kept = [each for each in self._known.values() if now - each.seen < _KEPT][-(_MOST - 1) :]
        made = Client(identifier, shown_name(name), found, now, scope)
        self._known = {each.id: each for each in (*kept, made)}
        return made

    def find(self, identifier: str) -> Client | None:
        """A client that has registered itself within the last day."""
        found = self._known.get(identifier)
        return found if found is not None and self._clock.now() - found.seen < _KEPT else None


def shown_name(text: str | None) -> str:
    """The name that a client gives itself, without signs that are not seen: it could look like another one."""
    signs = (sign for sign in unicodedata.normalize("NFC", (text or "")[:1000]) if _is_seen(sign))
    kept = "".join(" " if unicodedata.category(sign)[0] in "CZ" else sign for sign in signs)
    return " ".join(kept.split())[:_NAME] or "?"


def identifier() -> str:
    """A name for a grant or a request."""
    return secrets.token_hex(8)


def _is_seen(sign: str) -> bool:
    return unicodedata.category(sign) not in ("Cf", "Mn", "Me", "Cs", "Co", "Cn")


def _is_redirect(address: str) -> bool:
    """Return whether a browser may be sent there with a code: over TLS, or to a program on the same machine."""
    try:
        parts = urlsplit(address)
        host, _ = parts.hostname, parts.port
    except ValueError:
        return False
    if len(address) > _LONGEST or not host or parts.fragment or "#" in address or "@" in parts.netloc:
        return False
    if not address.isascii() or not address.isprintable() or "\\" in address or " " in address:
        return False
    return parts.scheme == "https" or (parts.scheme == "http" and is_loopback(host))
