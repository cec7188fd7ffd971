"""A pairing code, and what is wrong with one."""

import re
import secrets

from msgspec import Struct

from parachute.base.errors import ParachuteError
from parachute.security.keys.models import Scope

ALPHABET = "23456789ABCDEFGHJKMNPQRSTVWXYZ"
"""Without I, L, O, U, 0 and 1, which others are taken for."""

LENGTH = 8
SECONDS = 300.0
_BETWEEN = re.compile(r"[\s-]+")


class WrongCode(ParachuteError):
    """An unknown code; the reason is not disclosed to the caller."""

    status = 403
    key = "wrong_code"


class TooManyTries(ParachuteError):
    """Somebody guesses."""

    status = 429
    key = "too_many_tries"


class Code(Struct, frozen=True):
    """A code that is open: `digest` is what is kept of it, `ends` when it does, by the clock that nobody sets.

    `maker` is the id of the key or browser that made it, None for the owner's own programs; `is_browser` says which.
    """

    id: str
    name: str | None
    scopes: tuple[Scope, ...]
    digest: bytes
    ends: float
    maker: str | None
    is_browser: bool


def new_code() -> str:
    """A code that nobody knows yet."""
    return "".join(secrets.choice(ALPHABET) for _ in range(LENGTH))


def shown(code: str) -> str:
    """The code as people read it: XXXX-XXXX."""
    return f"{code[:4]}-{code[4:]}"


def typed(text: str) -> str:
    """The code that somebody has typed: case, dashes and spaces do not count."""
    return _BETWEEN.sub("", text).upper()
