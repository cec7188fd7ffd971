"""The words for how far a session is trusted."""

from typing import Literal, Protocol

from parachute.base.errors import InvalidInput

TrustLevel = Literal["direct", "sandboxed"]

_WORDS: dict[str, TrustLevel] = {
    "direct": "direct",
    "sandboxed": "sandboxed",
    "trusted": "direct",
    "untrusted": "sandboxed",
    "full": "direct",
    "vault": "direct",
}


class Floors(Protocol):
    """The levels of workspaces."""

    def floor(self, workspace: str) -> TrustLevel | None:
        """The level that confines every session in a workspace at least; None if there is no such workspace."""


class NoFloors:
    """A computer without workspaces."""

    def floor(self, workspace: str) -> TrustLevel | None:
        """Return None."""
        return None


def normalize_trust_level(word: str) -> TrustLevel:
    """The level that a word means, old words included; error: InvalidInput for any other word, never a guess."""
    level = _WORDS.get(word.lower())
    if level is None:
        raise InvalidInput(f"trustLevel: expected `direct` or `sandboxed`, not {word[:40]!r}.", key="unknown_level")
    return level
