"""Codes by which the owner shows that a private chat is their own: shown on the computer, sent in the chat, taken once."""

import hmac
from collections.abc import Callable
from dataclasses import dataclass, field

from parachute.base.clock import elapsed
from parachute.connectors.configuration.models import Platform
from parachute.web.pairing.models import new_code, typed

SECONDS = 600.0
_WRONG_TRIES = 5


@dataclass(slots=True)
class OwnerCodes:
    """One open code for each platform, in memory alone; after five wrong tries it ends."""

    clock: Callable[[], float] = elapsed
    _open: dict[Platform, tuple[str, float]] = field(default_factory=dict, init=False)
    _wrong: dict[Platform, int] = field(default_factory=dict, init=False)

    def make(self, platform: Platform) -> str:
        """A new code in place of the one before."""
        code = new_code()
        self._open[platform] = (code, self.clock() + SECONDS)
        self._wrong[platform] = 0
        return code

    def take(self, platform: Platform, presented: str) -> bool:
        """Return whether this is the open code, which is over with that; anything else is a wrong try."""
        code, ends = self._open.get(platform, ("", 0.0))
        if not code or self.clock() >= ends:
            self._open.pop(platform, None)
            return False
        if hmac.compare_digest(code.encode(), typed(presented).encode(errors="replace")):
            del self._open[platform]
            return True
        self._wrong[platform] += 1
        if self._wrong[platform] >= _WRONG_TRIES:
            del self._open[platform]
        return False
