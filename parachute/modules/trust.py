"""Who vouches for a module."""

import json
from functools import cache
from pathlib import Path

from parachute.modules.models import Trust


def trust_of(name: str, digest: str, untrusted: bool) -> Trust:
    """The trust of a content that the user approves: `untrusted` is the user's wish to shut it in.

    A content is verified if its hash came with this program; there is no key that could sign another one.
    """
    if untrusted:
        return Trust.UNTRUSTED
    return Trust.VERIFIED if digest in verified_hashes(name) else Trust.TRUSTED


def verified_hashes(name: str) -> tuple[str, ...]:
    """The hashes of a module in the list that came with this program."""
    return _verified().get(name, ())


@cache
def _verified() -> dict[str, tuple[str, ...]]:
    document = json.loads(Path(__file__).with_name("verified.json").read_text())
    return {name: tuple(hashes) for name, hashes in document.items()}
