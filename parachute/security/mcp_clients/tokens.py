"""Tokens: made of 256 random bits, stored as hashes, compared in constant time."""

import hashlib
import hmac
import secrets

from parachute.security.mcp_clients.models import ACCESS_PREFIX, REFRESH_PREFIX, Issued

ACCESS_SECONDS = 3600
_BYTES = 32
_LONGEST = 200


def made() -> Issued:
    """A new pair of tokens."""
    return Issued(
        ACCESS_PREFIX + secrets.token_urlsafe(_BYTES), REFRESH_PREFIX + secrets.token_urlsafe(_BYTES), ACCESS_SECONDS
    )


def hashed(presented: str) -> str:
    """The form in which a token or a code is stored."""
    return hashlib.sha256(presented[:_LONGEST].encode(errors="surrogatepass")).hexdigest()


def is_same(stored: str, wanted: str) -> bool:
    """Compare two hashes."""
    return hmac.compare_digest(stored.encode(), wanted.encode())
