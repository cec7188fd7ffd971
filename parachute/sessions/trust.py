"""The words for how far a session is trusted."""

from typing import Literal

from parachute.errors import InvalidInput

TrustLevel = Literal["direct", "sandboxed"]

_WORDS: dict[str, TrustLevel] = {
    "direct": "direct",
    "sandboxed": "sandboxed",
    "trusted": "direct",
    "untrusted": "sandboxed",
    "full": "direct",
    "vault": "direct",
}


def normalize_trust_level(word: str) -> TrustLevel:
    """The level that a word means, old words included; error: InvalidInput for any other word, never a guess."""
    level = _WORDS.get(word.lower())
    if level is None:
        raise InvalidInput(f"trustLevel: expected `direct` or `sandboxed`, not {word[:40]!r}.")
    return level
