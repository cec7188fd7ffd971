"""Codes by which the owner shows that a private chat is their own: shown on the computer, sent in the chat, taken once."""

import hmac
from dataclasses import dataclass, field

from parachute.base.clock import SYSTEM, Clock
from parachute.connectors.configuration.models import Platform
from parachute.web.pairing.models import TooManyTries, new_code, typed
from parachute.web.pairing.tries import Tries

SECONDS = 600.0


@dataclass(slots=True)
class OwnerCodes:
    """One open code for each platform, in memory alone; each chat has five tries, and ends nothing for others."""

    clock: Clock = SYSTEM
    _open: dict[Platform, tuple[str, float]] = field(default_factory=dict, init=False)
    _tries: Tries = field(init=False)

    def __post_init__(self) -> None:
        self._tries = Tries(self.clock)

    def make(self, platform: Platform) -> str:
        """A new code in place of the one before."""
        code = new_code()
        self._open[platform] = (code, self.clock.elapsed() + SECONDS)
        return code

    def take(self, platform: Platform, chat: str, presented: str) -> bool:
        """Return whether this is the open code, which is over with that; anything else is a wrong try of that chat."""
        peer = f"{platform}/{chat}"
        try:
            self._tries.check(peer)
        except TooManyTries:
            return False
        code, ends = self._open.get(platform, ("", 0.0))
        if not code or self.clock.elapsed() >= ends:
            self._open.pop(platform, None)
            return False
        if hmac.compare_digest(code.encode(), typed(presented).encode(errors="replace")):
            del self._open[platform]
            return True
        self._tries.note(peer)
        return False
