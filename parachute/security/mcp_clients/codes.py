"""Requests for consent, and the codes that come of them: in memory, for minutes, and each code for one use."""

import secrets
from typing import TypeVar

from msgspec.structs import replace

from parachute.base.clock import Clock
from parachute.base.errors import NotFound
from parachute.security.mcp_clients.models import Asked, Code, Limits
from parachute.security.mcp_clients.tokens import hashed

ASKED_SECONDS = 600
_CODE_SECONDS = 60
_REMEMBERED_SECONDS = 3600
_MOST = 50
_CODE_BYTES = 32
_COPIED = ""
"""Stands for the grant of a code that was shown again before there was one."""

_Kept = TypeVar("_Kept")


class Codes:
    """Everything that waits between a client's request and its tokens; the oldest goes when there is too much."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._asked: dict[str, Asked] = {}
        self._codes: dict[str, Code] = {}
        self._taken: dict[str, tuple[Code, str | None]] = {}

    def ask(self, asked: Asked) -> Asked:
        """Keep a request until the owner has answered."""
        kept = replace(asked, id=secrets.token_urlsafe(16), expires=self._clock.elapsed() + ASKED_SECONDS)
        self._asked = _newest(self._asked)
        self._asked[kept.id] = kept
        return kept

    def asked(self, name: str) -> Asked:
        """A request that waits for the owner; error: NotFound."""
        found = self._asked.get(name)
        if found is None or found.expires < self._clock.elapsed():
            raise NotFound(
                "This request is not there any more.", "Begin again in the program that asked.", key="no_such_request"
            )
        return found

    def refuse(self, name: str) -> Asked:
        """Take a request away; error: NotFound."""
        found = self.asked(name)
        del self._asked[name]
        return found

    def agree(self, name: str, limits: Limits) -> tuple[Asked, str]:
        """Make a code of a request: (what was asked, the code). Error: NotFound."""
        found, code = self.refuse(name), secrets.token_urlsafe(_CODE_BYTES)
        self._codes = _newest(self._codes)
        self._codes[hashed(code)] = Code(found, limits, self._clock.elapsed() + _CODE_SECONDS)
        return found, code

    def take(self, code: str, client: str) -> Code | None:
        """Use up a code of this client, whatever comes of it; None if it is not there, or too old."""
        name = hashed(code)
        found = self._codes.get(name)
        if found is None or found.asked.client.id != client:
            return None
        del self._codes[name]
        self._taken = {
            each: (taken, grant)
            for each, (taken, grant) in list(self._taken.items())[-_MOST:]
            if self._clock.elapsed() - taken.expires < _REMEMBERED_SECONDS
        }
        self._taken[name] = (found, None)
        return found if found.expires >= self._clock.elapsed() else None

    def made(self, code: Code, grant: str) -> bool:
        """Note which grant came of a code that was taken, and return whether nobody has shown that code again."""
        for name, (taken, before) in self._taken.items():
            if taken is code:
                self._taken[name] = (taken, grant)
                return before != _COPIED
        return True

    def grant_of_taken(self, code: str, client: str) -> str | None:
        """The grant that came of a code of this client which was used before: somebody has a copy of it."""
        name = hashed(code)
        taken, grant = self._taken.get(name, (None, None))
        if taken is None or taken.asked.client.id != client:
            return None
        if grant is None:
            self._taken[name] = (taken, _COPIED)
        return grant or None


def _newest(waiting: dict[str, _Kept]) -> dict[str, _Kept]:
    return dict(list(waiting.items())[-(_MOST - 1) :])
