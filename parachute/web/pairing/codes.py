"""The codes that are open: in memory alone, and only their hashes."""

import hashlib
import hmac
import secrets
import threading

from parachute.base.clock import Clock
from parachute.base.errors import Conflict, NotFound
from parachute.security.keys.models import Caller, Scope
from parachute.web.pairing.models import SECONDS, Code, new_code, typed

_MOST_OPEN = 20


class Codes:
    """Codes, each of which is taken once.

    No number of wrong tries ends one, or strangers could: each peer has a few (`Tries`), and of 650,000 million codes twenty are
    right for five minutes.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        # So few characters are found from a plain hash; with this one only in this process.
        self._salt = secrets.token_bytes(32)
        self._open: dict[str, Code] = {}
        self._lock = threading.Lock()

    def make(self, maker: Caller, name: str | None, scopes: tuple[Scope, ...]) -> tuple[Code, str]:
        """Make a code; returns it and its characters. Error: Conflict if too many are open."""
        with self._lock:
            self._forget()
            if len(self._open) >= _MOST_OPEN:
                raise Conflict(
                    "Too many codes have not been used yet.", "Wait until one has ended.", key="too_many_codes"
                )
            characters = new_code()
            is_browser = maker.kind == "browser"
            ends = self._clock.elapsed() + SECONDS
            identifier = secrets.token_hex(6)
            made = Code(identifier, name, scopes, self._digest(characters), ends, maker.key, is_browser)
            self._open[identifier] = made
            return made, characters

    def cancel(self, identifier: str) -> None:
        """End a code; error: NotFound."""
        with self._lock:
            self._forget()
            if self._open.pop(identifier, None) is None:
                raise NotFound("This code is unknown or has expired.", "Create another one.", key="no_such_code")

    def take(self, presented: str) -> Code | None:
        """The code that somebody has typed, which is over with that; None if there is none."""
        digest = self._digest(typed(presented))
        with self._lock:
            self._forget()
            found: Code | None = None
            for code in self._open.values():
                if hmac.compare_digest(code.digest, digest):
                    found = code
            if found is not None:
                del self._open[found.id]
            return found

    def _forget(self) -> None:
        now = self._clock.elapsed()
        self._open = {code.id: code for code in self._open.values() if now < code.ends}

    def _digest(self, characters: str) -> bytes:
        return hmac.digest(self._salt, characters.encode(errors="replace"), hashlib.sha256)
