"""The cookie by which a browser is known, and its name over TLS and without."""

import base64
import hmac
from collections.abc import Iterable
from typing import NamedTuple

from parachute.security.keys.browser_sessions import UNUSED
from parachute.web.access.credentials import WrongCredential

PLAIN = "parachute"
SECURE = "__Host-parachute"
"""Browsers take a name that begins so over TLS alone, and from this very host."""

READING = "parachute-reading"
"""Half of the key with which a browser encrypts what it keeps for reading without a connection; its pages read it."""

_LONGEST = 512


class Presented(NamedTuple):
    """The secret in a cookie, and whether it is the one that browsers send over TLS alone."""

    secret: str
    over_tls: bool


def presented_session(cookies: Iterable[bytes], scheme: str) -> Presented | None:
    """The cookie of a browser; None without one, WrongCredential where another page of this host has added its own."""
    found: dict[str, list[str]] = {PLAIN: [], SECURE: []}
    for header in cookies:
        for pair in header.decode("latin-1").split(";"):
            name, separator, value = pair.strip().partition("=")
            if separator and name in found:
                found[name].append(value.strip('"')[:_LONGEST])
    # Without TLS anybody on the network could have set the plain one. What comes from a proxy that adds TLS has the other.
    over_tls = scheme == "https" or bool(found[SECURE])
    values = found[SECURE if over_tls else PLAIN]
    if len(values) > 1:
        raise WrongCredential(
            "This browser has two sign-ins for this computer, and one of them may not be yours.",
            "Delete the cookies of this page, and sign in again.",
            key="two_sign_ins",
        )
    return Presented(values[0], over_tls) if values else None


def cookies(secret: str, over_tls: bool) -> tuple[str, str]:
    """The headers Set-Cookie that sign a browser in, or renew that; the second one is `READING`, which ends with the session."""
    part = base64.urlsafe_b64encode(hmac.digest(secret.encode(), b"reading", "sha256")).decode().rstrip("=")
    return _headers(secret, part, int(UNUSED.total_seconds()), over_tls)


def no_cookies() -> tuple[str, ...]:
    """The headers Set-Cookie that sign a browser out."""
    return *_headers("", "", 0, True), *_headers("", "", 0, False)


def _headers(value: str, part: str, seconds: int, over_tls: bool) -> tuple[str, str]:
    name, prefix, secure = (SECURE, "__Host-", "; Secure") if over_tls else (PLAIN, "", "")
    rest = f"Path=/; Max-Age={seconds}; SameSite=Strict{secure}"
    return f"{name}={value}; HttpOnly; {rest}", f"{prefix}{READING}={part}; {rest}"
