"""API keys: create, list, revoke and authenticate."""

import base64
import binascii
import secrets
import shlex
from collections.abc import Iterable
from pathlib import Path

from parachute.base.clock import SYSTEM, Clock
from parachute.base.errors import Conflict, InvalidInput, NotFound
from parachute.security.keys.document import label_problem
from parachute.security.keys.models import FIRST_BOOT, FULL_ACCESS, Key, Scope
from parachute.security.keys.store import KeyStore
from parachute.security.keys.stored_secrets import StoredSecrets, digest

PREFIX = "para_"
_SECRET_BYTES = 32


class LastAdminKey(Conflict):
    """Without this key nobody could administer the computer from elsewhere any more; without any it keeps off the network."""

    key = "last_admin_key"


class Keys(StoredSecrets):
    """The keys of one installation; safe to use from several threads and programs."""

    def __init__(self, home: Path, *, flush_seconds: float = 60.0, clock: Clock = SYSTEM) -> None:
        super().__init__(KeyStore(home), flush_seconds=flush_seconds, clock=clock)

    def create(self, label: str, scopes: Iterable[Scope] = FULL_ACCESS) -> tuple[Key, str]:
        """Make a key; returns it and its secret, which is stored nowhere and cannot be shown again.

        Errors: InvalidInput, Conflict if there is one of that name.
        """
        if label == FIRST_BOOT:
            raise InvalidInput(
                f"label: {FIRST_BOOT!r} is the key that sets this computer up, and ends with that.",
                "Choose another name.",
                key="reserved_name",
            )
        return self._create(label, scopes, is_only=True)

    def create_first(self) -> tuple[Key, str]:
        """Create the key that sets the computer up."""
        return self._create(FIRST_BOOT, FULL_ACCESS)

    def _create(self, label: str, scopes: Iterable[Scope], *, is_only: bool = False) -> tuple[Key, str]:
        granted = tuple(scopes)
        if problem := label_problem(label):
            raise InvalidInput(f"label: {problem}.", key="invalid_label")
        if not granted:
            raise InvalidInput("scopes: a key needs at least one scope.", "Such as daily:read,write.", key="no_scopes")
        secret = PREFIX + secrets.token_urlsafe(_SECRET_BYTES)
        hashed = digest(secret).hex()
        key = Key(hashed[:12], label, hashed, granted, self._clock.now().replace(microsecond=0))

        def with_it(keys: tuple[Key, ...]) -> tuple[Key, ...]:
            if is_only and any(known.label == label for known in keys):
                raise Conflict(
                    f"There is a key {label!r} already.",
                    f"Choose another name, or revoke that one first: parachute keys revoke {shlex.quote(label)}",
                    key="key_exists",
                )
            return (*keys, key)

        self.store.change(with_it)
        return key, secret

    def revoke(self, name: str, *, keep_admin: bool = False) -> Key:
        """Remove the key with this id, or else the only one with this label, and return it.

        Errors: NotFound, Conflict, and with `keep_admin` LastAdminKey if no other key with admin rights would stay.
        """

        def check(key: Key, rest: tuple[Key, ...]) -> None:
            if keep_admin and key.is_admin and not any(each.is_admin for each in rest):
                raise LastAdminKey(
                    f"{key.label} is the last key with admin rights: without one no other device can create keys, "
                    "and a computer without keys does not listen on the network when it starts again.",
                    "Make another key with admin rights first, then revoke this one with it.",
                )

        return self._remove(
            name,
            NotFound(f"There is no key {name[:100]!r}.", "See them with: parachute keys list", key="no_such_key"),
            check,
        )

    @property
    def are_gone(self) -> bool:
        """Return whether the file of keys was lost: then no key is valid, and nobody is let in from elsewhere."""
        return self.store.is_gone

    def authenticate(self, presented: str) -> Key | None:
        """The key whose secret this is, as itself or in base64; None if there is none, KeysUnreadable if unknown."""
        found = self._recognised(presented, _forms(presented))
        if found is not None:
            self._note_use(found)
        return found


def _forms(presented: str) -> tuple[str, str]:
    # One screen of the app sends the key in base64, as it keeps it in its preferences.
    try:
        decoded = base64.b64decode(presented, validate=True).decode("ascii")
    except (binascii.Error, ValueError):
        decoded = presented
    return presented, decoded
