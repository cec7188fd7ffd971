"""The secrets of one file, of which it has the hashes: recognised, listed, revoked, and when each was used last."""

import hashlib
import hmac
import logging
import threading
import time
from collections.abc import Callable, Iterable
from datetime import datetime, timedelta

from msgspec import Struct
from msgspec.structs import replace

from parachute.base.clock import Clock
from parachute.base.errors import Conflict, NotFound, ParachuteError
from parachute.base.signatures import Signature
from parachute.security.keys.document import KeysUnreadable
from parachute.security.keys.models import Key
from parachute.security.keys.store import KeyStore

log = logging.getLogger(__name__)

_MAXIMUM_PRESENTED = 512


class _Cached(Struct, frozen=True):
    keys: tuple[tuple[bytes, Key], ...]
    signature: Signature | None
    is_settled: bool
    # Message and hint; an exception object would grow with every raise.
    problem: tuple[str, str | None] | None = None


class StoredSecrets:
    """Common base of Keys and BrowserSessions; safe to use from several threads and programs.

    Times of last use are collected for `flush_seconds`, and not written for those that were written within `seldom`.
    """

    def __init__(self, store: KeyStore, *, flush_seconds: float, clock: Clock, seldom: timedelta = timedelta()) -> None:
        self.store = store
        self._flush_seconds = flush_seconds
        self._seldom = seldom
        self._clock = clock
        self._lock = threading.Lock()
        self._cached: _Cached | None = None
        self._last_used: dict[str, datetime] = {}
        self._timer: threading.Timer | None = None
        self._addresses: dict[str, str] | None = None
        self._has_new_address = False

    def address_of(self, identifier: str) -> str | None:
        """Return the address from which one was used last, None if nobody knows; waits for the disk the first time."""
        with self._lock:
            return self._known_addresses().get(identifier)

    def note_address(self, identifier: str, address: str) -> None:
        """Note the address from which one is used; it is written later."""
        with self._lock:
            known = self._known_addresses()
            if known.get(identifier) == address:
                return
            known[identifier] = address
            self._has_new_address = True
            self._flush_later()

    def _known_addresses(self) -> dict[str, str]:
        if self._addresses is None:
            self._addresses = self.store.addresses()
        return self._addresses

    def list(self) -> tuple[Key, ...]:
        """Return all with their latest use, oldest first; KeysUnreadable if the file is not understood."""
        with self._lock:
            keys = self._current().keys
            return tuple(self._used(key, self._last_used.get(key.id)) for _, key in keys)

    def check(self) -> None:
        """Raise KeysUnreadable if the file is not understood; then nobody may be let in, with a key or without."""
        with self._lock:
            self._current()

    def holds(self, identifier: str) -> bool:
        """Return whether one with this id is valid now; costs one stat of the file."""
        try:
            return self._find(identifier) is not None
        except KeysUnreadable:
            return False

    def flush(self) -> None:
        """Write the collected times of last use; waits for other writers, so call it outside of an event loop."""
        with self._lock:
            collected, self._last_used = self._last_used, {}
            self._timer = None
            addresses = dict(self._known_addresses()) if self._has_new_address else None
            self._has_new_address = False
        if addresses is not None:
            self._write_addresses(addresses)
        if not collected:
            return
        try:
            self.store.change(lambda keys: tuple(self._used(key, collected.get(key.id)) for key in keys))
        except (ParachuteError, OSError) as error:
            log.warning("The times of last use in %s could not be written: %s", self.store.path.name, error)
            with self._lock:
                self._last_used = collected | self._last_used

    def _write_addresses(self, addresses: dict[str, str]) -> None:
        try:
            known = {key.id for key in self.store.load().keys}
            self.store.write_addresses({each: address for each, address in addresses.items() if each in known})
        except (ParachuteError, OSError) as error:
            log.warning("The addresses of %s could not be written: %s", self.store.noun, error)

    def close(self) -> None:
        """Stop the timer and write what it has collected; call it outside of an event loop."""
        with self._lock:
            timer = self._timer
        if timer is not None:
            timer.cancel()
            timer.join()
        self.flush()

    def _find(self, identifier: str) -> Key | None:
        with self._lock:
            return next((key for _, key in self._current().keys if key.id == identifier), None)

    def _recognised(self, presented: str, forms: Iterable[str]) -> Key | None:
        """The one whose secret this is in one of its `forms`; None if there is none, KeysUnreadable if unknown."""
        with self._lock:
            keys = self._current().keys
        if not presented or len(presented) > _MAXIMUM_PRESENTED:
            return None
        found: Key | None = None
        digests = [digest(form) for form in forms]
        # No early exit: the time taken must not tell which key was nearest.
        for stored, key in keys:
            for each in digests:
                if hmac.compare_digest(stored, each):
                    found = key
        return found

    def _remove(
        self, name: str, missing: NotFound, check: Callable[[Key, tuple[Key, ...]], None] = lambda key, rest: None
    ) -> Key:
        """Remove the one with this id, or else the only one with this label; `check` gets it and those that would stay."""
        removed: Key | None = None

        def without(keys: tuple[Key, ...]) -> tuple[Key, ...]:
            nonlocal removed
            found = [key for key in keys if key.id == name] or [key for key in keys if key.label == name]
            if not found:
                raise missing
            if len(found) > 1:
                ids = ", ".join(key.id for key in found)
                raise Conflict(
                    f"{len(found)} {self.store.noun} have the name {name[:100]!r}.",
                    f"Name one of the ids: {ids}",
                    key="several_of_name",
                )
            removed = found[0]
            rest = tuple(key for key in keys if key is not removed)
            check(removed, rest)
            return rest

        self.store.change(without)
        assert removed is not None
        with self._lock:
            self._last_used.pop(removed.id, None)
        return removed

    def _note_use(self, key: Key) -> None:
        now = self._clock.now().replace(microsecond=0)
        with self._lock:
            self._last_used[key.id] = now
            if not (key.last_used_at and abs(now - key.last_used_at) < self._seldom):
                self._flush_later()

    def _flush_later(self) -> None:
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

    def _used(self, key: Key, moment: datetime | None) -> Key:
        if moment is None:
            return key
        # A time that is still to come was written while the clock was wrong.
        if key.last_used_at is not None and moment <= key.last_used_at <= self._clock.now():
            return key
        return replace(key, last_used_at=moment)


def digest(text: str) -> bytes:
    """The hash under which a secret is stored."""
    return hashlib.sha256(text.encode(errors="surrogatepass")).digest()
