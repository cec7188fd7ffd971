"""Browsers that are signed in: each has a secret in a cookie, the scopes of what it signed in with, and an end."""

import secrets
from collections.abc import Iterable
from datetime import timedelta
from pathlib import Path

from msgspec.structs import replace

from parachute.base.clock import SYSTEM, Clock
from parachute.base.errors import InvalidInput, NotFound
from parachute.security.keys.document import BROWSERS, KeysUnreadable, label_problem
from parachute.security.keys.models import Key, Scope
from parachute.security.keys.service import Keys
from parachute.security.keys.store import KeyStore
from parachute.security.keys.stored_secrets import StoredSecrets, digest

PREFIX = "paraweb_"
UNUSED = timedelta(days=90)
"""After this time without use a browser is signed out."""

CONFIRMED_SECONDS = 600.0
"""For so long after signing in or confirming, what a browser decides counts as decided by its owner."""

_SELDOM = timedelta(hours=1)
_SECRET_BYTES = 32


class BrowserSessions(StoredSecrets):
    """The browsers that are signed in at one installation.

    Who has confirmed is known to this process alone and counted by `clock`: after a restart everybody confirms again.
    """

    def __init__(self, home: Path, keys: Keys, *, flush_seconds: float = 60.0, clock: Clock = SYSTEM) -> None:
        super().__init__(KeyStore(home, BROWSERS), flush_seconds=flush_seconds, seldom=_SELDOM, clock=clock)
        self._keys = keys
        self._confirmed: dict[str, float] = {}
        # The clock may have been wrong until now, as on a machine without a battery: what was seen since is alive.
        self._seen: dict[str, float] = {}

    def create(
        self, label: str, scopes: Iterable[Scope], *, parent: str | None = None, instead_of: str | None = None
    ) -> tuple[Key, str]:
        """Sign a browser in, and confirm; returns it and its secret, which is stored nowhere.

        `parent` is the key without which it is signed out, `instead_of` one that ends with this. Those that have ended are
        removed. Errors: InvalidInput, Conflict if there are too many, KeysUnreadable, OSError.
        """
        granted = tuple(scopes)
        if problem := label_problem(label):
            raise InvalidInput(f"name: {problem}.", key="invalid_name")
        if not granted:
            raise InvalidInput(
                "scopes: a browser needs at least one scope.", "Such as daily:read,write.", key="no_scopes"
            )
        secret = PREFIX + secrets.token_urlsafe(_SECRET_BYTES)
        hashed = digest(secret).hex()
        now = self._clock.now().replace(microsecond=0)
        made = Key(hashed[:12], label, hashed, granted, now, now, parent)
        self.store.change(
            lambda known: (*(each for each in known if self._is_alive(each) and each.id != instead_of), made)
        )
        self.confirm(made.id)
        return made, secret

    def authenticate(self, presented: str) -> Key | None:
        """The browser whose secret this is; None if there is none or it has ended, KeysUnreadable if unknown."""
        found = self._recognised(presented, (presented,))
        if found is None or not self._is_alive(found):
            return None
        self._seen[found.id] = self._clock.elapsed()
        self._note_use(found)
        return found

    def list(self) -> tuple[Key, ...]:
        """Return those that are signed in, with when each was seen last; KeysUnreadable if the file is not understood."""
        return tuple(each for each in super().list() if self._is_alive(each))

    @property
    def has_any(self) -> bool:
        """Return whether a browser has signed in, also one whose time is over; KeysUnreadable if unknown."""
        return bool(super().list())

    def holds(self, identifier: str) -> bool:
        """Return whether this browser is signed in now."""
        try:
            found = self._find(identifier)
        except KeysUnreadable:
            return False
        return found is not None and self._is_alive(found)

    def revoke(self, name: str) -> Key:
        """Sign out the browser with this id, or else the only one of this name, and return it; errors: NotFound, Conflict."""
        missing = NotFound(
            f"No browser {name[:100]!r} is signed in.", "See them with: parachute devices list", key="no_such_browser"
        )
        removed = self._remove(name, missing)
        self._confirmed.pop(removed.id, None)
        self._seen.pop(removed.id, None)
        return removed

    def rename(self, identifier: str, label: str) -> Key:
        """Give a browser another name, and return it; errors: InvalidInput, NotFound, KeysUnreadable, OSError."""
        if problem := label_problem(label):
            raise InvalidInput(f"name: {problem}.", key="invalid_name")
        self.store.change(
            lambda known: tuple(replace(each, label=label) if each.id == identifier else each for each in known)
        )
        if (found := self._find(identifier)) is None:
            raise NotFound("This browser is not signed in.", "Load the list again.", key="no_such_browser")
        return found

    def confirm(self, identifier: str) -> None:
        """Note that its owner sits before this browser now."""
        self._confirmed[identifier] = self._clock.elapsed()

    def confirmed_for(self, identifier: str) -> float:
        """Seconds for which what this browser decides counts as decided by its owner; 0 if that is over."""
        since = self._confirmed.get(identifier)
        return 0.0 if since is None else max(0.0, since + CONFIRMED_SECONDS - self._clock.elapsed())

    def _is_alive(self, session: Key) -> bool:
        if session.parent is not None and not self._keys.holds(session.parent):
            return False
        seen = self._seen.get(session.id)
        if seen is not None and self._clock.elapsed() - seen < UNUSED.total_seconds():
            return True
        return self._clock.now() - session.since < UNUSED
