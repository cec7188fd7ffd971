"""Events, their ids, their subscribers, and the limits of both."""

import json
import re
import secrets
import time
import uuid
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from msgspec import Struct

from parachute.base.errors import InvalidInput

DATA_LIMIT = 256 * 1024
"""Bytes of an event's data as JSON: an event says what happened, and where the rest can be read."""

_NAME = re.compile(r"[a-z][a-z0-9_-]*(\.[a-z0-9_-]+)+")
_PATTERN = re.compile(r"[a-z][a-z0-9_-]*(\.[a-z0-9_-]+)*\.\*")
_NAME_CHARACTERS = 100
_PATTERNS = 100
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


class Event(Struct, frozen=True):
    """Something that happened; `id` sorts by time and tells repeats of a delivery, `source` is `core` or a module's name."""

    id: str
    name: str
    source: str
    data: dict[str, Any]
    timestamp: str


class DeadLetter(Struct, frozen=True):
    """An event that a subscriber did not take, after the last try or because too much was waiting for it."""

    event: Event
    subscriber: str
    attempts: int
    error: str


class Waiting(Struct, frozen=True):
    """The next event for a subscriber; `due_at` is in seconds since 1970."""

    event: Event
    attempts: int
    due_at: float
    size: int


class Limits(Struct, frozen=True):
    """Limits of storage, and delays of retries; seconds and bytes.

    `backlog` and `backlog_bytes` are per subscriber. A failed try is repeated after `first_seconds`, and then twice as
    long each time up to `most_seconds`; after `tries` it is a dead letter.
    """

    tries: int = 10
    first_seconds: float = 1.0
    most_seconds: float = 300.0
    delivery_seconds: float = 120.0
    backlog: int = 1000
    backlog_bytes: int = 32 * 1024 * 1024
    delivered: int = 10_000
    delivered_bytes: int = 64 * 1024 * 1024
    delivered_days: float = 7.0
    dead_letters: int = 1000
    dead_bytes: int = 64 * 1024 * 1024

    def delay(self, attempts: int) -> float:
        """Seconds until the next try, after so many that failed."""
        return min(self.most_seconds, self.first_seconds * 2.0 ** (attempts - 1))


Listener = Callable[[str, dict[str, Any]], Awaitable[None]]
"""Hears (name, data) inside core, once and at once."""

Deliver = Callable[[str, Event], Awaitable[None]]
"""Brings an event to a subscriber (by its name); whatever it raises means that the event was not taken."""


def checked_name(name: str) -> str:
    """The name, if it can be one of an event; error: InvalidInput."""
    if len(name) > _NAME_CHARACTERS or not _NAME.fullmatch(name):
        raise InvalidInput(
            f"event name: {name[:_NAME_CHARACTERS]!r} is not valid; write two or more parts of small letters, digits, `-` "
            "and `_`, such as `daily.entry.created`.",
            key="event_name_invalid",
        )
    return name


def checked_patterns(patterns: Sequence[str]) -> tuple[str, ...]:
    """Names of events and `prefix.*`, without repeats; error: InvalidInput."""
    if len(patterns) > _PATTERNS:
        raise InvalidInput(f"events: at most {_PATTERNS} of them.", key="too_many_events")
    for pattern in patterns:
        if len(pattern) > _NAME_CHARACTERS or not (_PATTERN.fullmatch(pattern) or _NAME.fullmatch(pattern)):
            raise InvalidInput(
                f"events: {pattern[:_NAME_CHARACTERS]!r} is neither the name of an event nor a beginning such as `daily.*`.",
                key="event_pattern_invalid",
            )
    return tuple(sorted(set(patterns)))


def matches(patterns: Sequence[str], name: str) -> bool:
    """True if one of the patterns matches this name."""
    return any(name.startswith(each[:-1]) if each.endswith(".*") else name == each for each in patterns)


def encoded(data: dict[str, Any]) -> str:
    """The data of an event as JSON; error: InvalidInput if it is too large, or no JSON."""
    try:
        text = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        size = len(text.encode())
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidInput(f"event data: it cannot be written as JSON ({error}).", key="event_not_json") from error
    if size > DATA_LIMIT:
        raise InvalidInput(
            f"event data: {size:,} bytes are more than the {DATA_LIMIT:,} allowed.", key="event_too_large"
        )
    return text
