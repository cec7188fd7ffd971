"""API keys: create, list, revoke and authenticate."""

import base64
import binascii
import hashlib
import hmac
import logging
import secrets
import shlex
import threading
import time
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from parachute.base.errors import Conflict, InvalidInput, NotFound, ParachuteError
from parachute.base.signatures import Signature
from parachute.security.keys.document import KeysUnreadable, label_problem
from parachute.security.keys.models import FIRST_BOOT, FULL_ACCESS, Key, Scope
from parachute.security.keys.store import KeyStore

log = logging.getLogger(__name__)

PREFIX = "para_"
_SECRET_BYTES = 32
_MAXIMUM_PRESENTED = 512


@dataclass(frozen=True, slots=True)
class _Cached:
    keys: tuple[tuple[bytes, Key], ...]
    signature: Signature | None
    is_settled: bool
    # Message and hint; an exception object would grow with every raise.
    problem: tuple[str, str | None] | None = None


class LastAdminKey(Conflict):
    """Without this key nobody could administer the computer from elsewhere any more; without any it keeps off the network."""

    key = "last_admin_key"


class Keys:
    """The keys of one installation; safe to use from several threads and programs."""

    def __init__(self, home: Path, *, flush_seconds: float = 60.0) -> None:
        self.store = KeyStore(home)
        self._flush_seconds = flush_seconds
        self._lock = threading.Lock()
        self._cached: _Cached | None = None
        self._last_used: dict[str, datetime] = {}
        self._timer: threading.Timer | None = None

    def create(self, label: str, scopes: Iterable[Scope] = FULL_ACCESS) -> tuple[Key, str]:
        """Make a key; returns it and its secret, which is stored nowhere and cannot be shown again.

        Errors: InvalidInput, Conflict if there is one of that name.
        """
        if label == FIRST_BOOT:
            raise InvalidInput(
                f"label: {FIRST_BOOT!r} is the key that sets this computer up, and ends with that.",
                "Choose another name.",
            )
        return self._create(label, scopes, is_only=True)

    def create_first(self) -> tuple[Key, str]:
        """Create the key that sets the computer up."""
        return self._create(FIRST_BOOT, FULL_ACCESS)

    def _create(self, label: str, scopes: Iterable[Scope], *, is_only: bool = False) -> tuple[Key, str]:
        granted = tuple(scopes)
        if problem := label_problem(label):
            raise InvalidInput(f"label: {problem}.")
        if not granted:
            raise InvalidInput("scopes: a key needs at least one scope.", "Such as daily:read,write.")
        secret = PREFIX + secrets.token_urlsafe(_SECRET_BYTES)
        digest = _digest(secret).hex()
        key = Key(digest[:12], label, digest, granted, datetime.now(UTC).replace(microsecond=0))

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

    def list(self) -> tuple[Key, ...]:
        """Return all keys with their latest use, oldest first; KeysUnreadable if the file is not understood."""
        with self._lock:
            keys = self._current().keys
            return tuple(_used(key, self._last_used.get(key.id)) for _, key in keys)

    def revoke(self, name: str, *, keep_admin: bool = False) -> Key:
        """Remove the key with this id, or else the only one with this label, and return it.

        Errors: NotFound, Conflict, and with `keep_admin` LastAdminKey if no other key with admin rights would stay.
        """
        removed: Key | None = None

        def without(keys: tuple[Key, ...]) -> tuple[Key, ...]:
            nonlocal removed
            found = [key for key in keys if key.id == name] or [key for key in keys if key.label == name]
            if not found:
                raise NotFound(f"There is no key {name[:100]!r}.", "See them with: parachute keys list")
            if len(found) > 1:
                ids = ", ".join(key.id for key in found)
                raise Conflict(f"{len(found)} keys have the label {name[:100]!r}.", f"Name one of the ids: {ids}")
            removed = found[0]
            rest = tuple(key for key in keys if key is not removed)
            if keep_admin and removed.is_admin and not any(key.is_admin for key in rest):
                raise LastAdminKey(
                    f"{removed.label} is the last key with admin rights: without one nobody could make another from "
                    "elsewhere, and a computer without keys does not listen on the network when it starts again.",
                    "Make another key with admin rights first, then revoke this one with it.",
                )
            return rest

        self.store.change(without)
        assert removed is not None
        with self._lock:
            self._last_used.pop(removed.id, None)
        return removed

    @property
    def are_gone(self) -> bool:
        """Return whether the file of keys was lost: then no key is valid, and nobody is let in from elsewhere."""
        return self.store.is_gone

    def check(self) -> None:
        """Raise KeysUnreadable if the file is not understood; then nobody may be let in, with a key or without."""
        with self._lock:
            self._current()

    def holds(self, identifier: str) -> bool:
        """Return whether a key with this id is valid now; costs one stat of the file."""
        try:
            with self._lock:
                return any(key.id == identifier for _, key in self._current().keys)
        except KeysUnreadable:
            return False

    def authenticate(self, presented: str) -> Key | None:
        """The key whose secret this is, as itself or in base64; None if there is none, KeysUnreadable if unknown."""
        with self._lock:
            keys = self._current().keys
        if not presented or len(presented) > _MAXIMUM_PRESENTED:
            return None
        found: Key | None = None
        digests = [_digest(form) for form in _forms(presented)]
        # No early exit: the time taken must not tell which key was nearest.
        for stored, key in keys:
            for digest in digests:
                if hmac.compare_digest(stored, digest):
                    found = key
        if found is not None:
            self._note_use(found.id)
        return found

    def flush(self) -> None:
        """Write the collected times of last use; waits for other writers, so call it outside of an event loop."""
        with self._lock:
            collected, self._last_used = self._last_used, {}
            self._timer = None
        if not collected:
            return
        try:
            self.store.change(lambda keys: tuple(_used(key, collected.get(key.id)) for key in keys))
        except (ParachuteError, OSError) as error:
            log.warning("The times of last use of keys could not be written: %s", error)
            with self._lock:
                self._last_used = collected | self._last_used

    def close(self) -> None:
        """Stop the timer and write what it has collected; call it outside of an event loop."""
        with self._lock:
            timer = self._timer
        if timer is not None:
            timer.cancel()
            timer.join()
        self.flush()

    def _note_use(self, identifier: str) -> None:
        with self._lock:
            self._last_used[identifier] = datetime.now(UTC).replace(microsecond=0)
            if self._timer is None:
                self._timer = threading.Timer(self._flush_seconds, self.flush)
                self._timer.daemon = True
                self._timer.start()

    def _current(self) -> _Cached:
        now = time.time_ns()
        signature = self.store.signature()
        cached = self._cached
        if cached is None or not cached.is_settled or cached.signature != signature:
            cached = self._cached = self._load(signature, now)
        if cached.problem is not None:
            raise KeysUnreadable(*cached.problem)
        return cached

    def _load(self, signature: Signature | None, now: int) -> _Cached:
        problem = None
        keys: tuple[tuple[bytes, Key], ...] = ()
        try:
            stored = self.store.load()
        except KeysUnreadable as error:
            problem = (error.message, error.hint)
        else:
            signature = stored.signature
            keys = tuple((bytes.fromhex(key.hash), key) for key in stored.keys)
        is_settled = signature is None or signature.differs_later(now)
        return _Cached(keys, signature, is_settled, problem)


def _digest(text: str) -> bytes:
    return hashlib.sha256(text.encode(errors="surrogatepass")).digest()


def _forms(presented: str) -> tuple[str, str]:
    # One screen of the app sends the key in base64, as it keeps it in its preferences.
    try:
        decoded = base64.b64decode(presented, validate=True).decode("ascii")
    except (binascii.Error, ValueError):
        decoded = presented
    return presented, decoded


def _used(key: Key, moment: datetime | None) -> Key:
    if moment is None or (key.last_used_at is not None and key.last_used_at >= moment):
        return key
    return replace(key, last_used_at=moment)
