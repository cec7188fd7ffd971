"""Ids of events: they sort in the order in which they were made, also when the clock is set back."""

import secrets
import time
import uuid

_COUNTER_BITS = 12


class Identifiers:
    """Makes UUIDs of version 7 (RFC 9562): milliseconds, a counter, and 62 random bits; each sorts after the one before."""

    def __init__(self) -> None:
        self._last = 0  # milliseconds and counter together, as one number

    def follow(self, identifier: str) -> None:
        """Make only ids that sort after this one, which an earlier process made."""
        value = uuid.UUID(identifier).int
        self._last = max(self._last, value >> 80 << _COUNTER_BITS | value >> 64 & 0xFFF)

    def new(self) -> str:
        """The next id."""
        # The counter runs over into the milliseconds: then the id is a little ahead of the clock.
        self._last = max(self._last + 1, time.time_ns() // 1_000_000 << _COUNTER_BITS)
        moment, counter = self._last >> _COUNTER_BITS, self._last & 0xFFF
        return str(uuid.UUID(int=moment << 80 | 7 << 76 | counter << 64 | 2 << 62 | secrets.randbits(62)))
