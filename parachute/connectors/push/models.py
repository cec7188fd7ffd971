"""A device that is told, and the address at which its browser's push service takes notices."""

import base64
import binascii
from typing import Literal
from urllib.parse import urlsplit

from msgspec import Struct, field

from parachute.base.clock import now
from parachute.base.errors import InvalidInput
from parachute.connectors.texts import Language
from parachute.sandbox.egress.hosts import AllowedHosts, Pattern, is_at_home, split
from parachute.sandbox.egress.models import Target

KNOWN = AllowedHosts.parse(
    ("fcm.googleapis.com", "*.push.services.mozilla.com", "*.notify.windows.com", "*.push.apple.com")
)
"""Push services of Chrome, Firefox, Edge and Safari: an owner who switches notices on in one of these agrees with its own."""

LONGEST_ADDRESS = 1000
_POINT, _SECRET = 65, 16
"""Bytes of a key on P-256 without compression, and of a subscription's secret."""


class Subscription(Struct, frozen=True):
    """Address and keys of a browser that wants to be told: an `endpoint`, its `key` (p256dh) and `secret` (auth), both in base64url.

    `device` is the id of its sign-in, `said_at` when it was told last, `problem` why that failed the last time. `address` is
    where it calls this computer, which push services are told as its own (RFC 8292).
    """

    device: str
    endpoint: str
    key: str
    secret: str
    language: Language
    since: str = field(default_factory=now)
    said_at: str | None = None
    problem: str | None = None
    address: str = "https://localhost"

    @property
    def target(self) -> Target:
        """Return the push service; error: InvalidInput for one to which nothing may be sent."""
        return target_of(self.endpoint)


State = Literal["told", "asked", "refused"]
"""A device is told, waits until the owner allows its push service, or is not told since the owner has refused that."""


def target_of(endpoint: str) -> Target:
    """Read the address of a subscription: https, and a host of the internet; error: InvalidInput."""
    try:
        if len(endpoint) > LONGEST_ADDRESS or not endpoint.isascii() or not endpoint.isprintable() or " " in endpoint:
            raise ValueError("it is no address")
        parts = urlsplit(endpoint)
        if parts.scheme != "https":
            raise ValueError("it does not begin with https")
        if "@" in parts.netloc or parts.fragment:
            raise ValueError("it has a password or a mark in it")
        host, port = split(parts.netloc, 443)
        target = Target(host, port or 443)
        Pattern.parse(str(target))
        if is_at_home(host):
            raise ValueError("it is at home")
        return target
    except ValueError as error:
        raise InvalidInput(
            f"endpoint: nothing can be sent there: {error}.",
            "The browser has to name a push service of the internet.",
            key="push_endpoint_invalid",
        ) from error


def check_keys(key: str, secret: str) -> None:
    """Refuse keys to which nothing can be encrypted; error: InvalidInput."""
    try:
        point = decoded(key)
        if len(point) != _POINT or len(decoded(secret)) != _SECRET:
            raise ValueError("wrong length")
        from cryptography.hazmat.primitives.asymmetric import ec  # some megabytes, and for those who are told alone

        ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), point)
    except ValueError as error:
        raise InvalidInput("keys: these are no keys of a browser.", key="push_keys_invalid") from error


def decoded(text: str) -> bytes:
    """The bytes of base64url without its end; error: ValueError."""
    try:
        return base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
    except binascii.Error as error:
        raise ValueError(str(error)) from error


def encoded(data: bytes) -> str:
    """Base64url without its end."""
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()
