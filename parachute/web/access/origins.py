"""The web pages that may call: those that this server gave out, and those that are configured."""

import re
from collections.abc import Iterable

from parachute.base.errors import InvalidInput, NotAllowed
from parachute.web.access.headers import CONSOLE, CallHeaders

_ORIGIN = re.compile(r"([a-z][a-z0-9+.-]{0,31})://(\[[0-9a-f:.]{2,45}\]|[a-z0-9._-]{1,255})(?::([0-9]{1,5}))?")
_DEFAULT_PORTS = {"http": "80", "https": "443"}
_SAFE_METHODS = frozenset(("GET", "HEAD", "OPTIONS"))
_FOREIGN_SITES = frozenset((b"cross-site", b"same-site"))


class OriginNotAllowed(NotAllowed):
    """A page of another origin sent the request."""

    key = "origin_not_allowed"


class OriginPolicy:
    """Policy for Origin and Sec-Fetch-Site; errors: InvalidInput for a configured origin that is none."""

    def __init__(self, origins: Iterable[str] = ()) -> None:
        self._configured = {_configured(origin) for origin in origins}

    def check(
        self,
        method: str,
        scheme: str,
        host: bytes,
        origin: bytes | None,
        fetch_site: bytes | None,
        *,
        is_open: bool = False,
    ) -> None:
        """Let the request pass or raise OriginNotAllowed; `host` is the Host header, checked before.

        `is_open` is for what everybody may see.
        """
        if origin is None:
            # Browsers leave Origin out of some requests; a page of another site still shows in this header. It could not
            # read the answer, but reading starts agents and wakes modules.
            if fetch_site in _FOREIGN_SITES and not (is_open and method in _SAFE_METHODS):
                raise OriginNotAllowed("A page of another site may not call this computer.")
            return
        text = origin.decode("latin-1").lower()
        if is_own_page(text, scheme, host.decode("latin-1")):
            return
        match = _ORIGIN.fullmatch(text)
        if match is None or _normal(match) not in self._configured:
            shown = match[0] if match else "null" if text == "null" else "that is not named properly"
            raise OriginNotAllowed(
                f"A page of the origin {shown} may not call this computer.",
                f"If it should, add it with: parachute config set origins {shown}" if match else None,
            )


def check_own_page(method: str, scheme: str, headers: CallHeaders) -> None:
    """See that a request with a browser's cookie comes from a page of ours, and not only from no other; error: OriginNotAllowed.

    Other programs of this host have pages on other ports, to which cookies are sent as well. A browser names the origin of
    whatever changes something; of what is read, over TLS and on this machine, where it comes from, and else at least the
    page that asks, or our own header.
    """
    single, host = headers.single, headers.single.get(b"host", b"").decode("latin-1")
    origin, site, referer = single.get(b"origin"), single.get(b"sec-fetch-site"), single.get(b"referer")
    is_reading = method in _SAFE_METHODS
    if origin is not None:
        is_ours = is_own_page(origin.decode("latin-1"), scheme, host)
    elif not is_reading:
        is_ours = False
    elif site is not None:
        # `none`: the owner typed the address, or opened it from a bookmark.
        is_ours = site in (b"same-origin", b"none")
    else:
        is_ours = CONSOLE in single or (referer is not None and is_own_page(referer.decode("latin-1"), scheme, host))
    if not is_ours:
        raise OriginNotAllowed(
            "A browser that is signed in calls from pages of this computer alone, and this request does not show that it does.",
            "Other programs send a key: Authorization: Bearer KEY.",
        )


def is_own_page(address: str, scheme: str, host: str) -> bool:
    """Return whether this is an address, or the origin, of a page of ours: `host` is the Host header."""
    scheme_of_page, separator, rest = address.lower().partition("://")
    return bool(separator) and _is_same(scheme_of_page, rest.partition("/")[0], scheme, host.lower())


def _is_same(scheme_of_page: str, authority: str, scheme: str, host: str) -> bool:
    default = _DEFAULT_PORTS.get(scheme_of_page)
    # https over our http is a page that a TLS proxy gave out; http over our https is somebody in the middle.
    if default is None or (scheme_of_page == "http" and scheme == "https"):
        return False
    return authority.removesuffix(f":{default}") == host.removesuffix(f":{default}")


def _normal(match: re.Match[str]) -> str:
    port = match[3] if match[3] != _DEFAULT_PORTS.get(match[1]) else None
    return f"{match[1]}://{match[2]}" + (f":{port}" if port else "")


def _configured(text: str) -> str:
    match = _ORIGIN.fullmatch(text.strip().lower())
    if match is None:
        raise InvalidInput(
            f"origins: {text[:100]!r} is not an origin.",
            "Write scheme, host and port without a path or *, such as https://notes.example.org.",
            key="invalid_origin",
        )
    return _normal(match)
