"""Typed reading of JSON from servers and people of Matrix, which may be anything."""

import re
from typing import Any

EVENT = re.compile(r"\$[!-~]{1,254}")
ROOM = re.compile(r"![!-~]{1,254}")
USER = re.compile(r"@[!-~]{1,252}:[!-~]{1,252}")
_LONGEST_ID = 255
_LATEST = 9e10


def mapping(value: Any, *names: str) -> dict[str, Any]:
    """Return the mapping below nested names; empty where it is no mapping."""
    for name in names:
        value = value.get(name) if isinstance(value, dict) else None
    return value if isinstance(value, dict) else {}


def events(value: Any) -> list[dict[str, Any]]:
    """Choose the events of a list."""
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


def text(value: Any) -> str:
    """A text; empty for anything else."""
    return value if isinstance(value, str) else ""


def identifier(pattern: re.Pattern[str], value: Any) -> str:
    """An id; empty for what is none, or longer than is kept."""
    found = text(value)
    return found if len(found) <= _LONGEST_ID and pattern.fullmatch(found) else ""


def seconds(event: dict[str, Any]) -> float:
    """Return the time of an event, by the clock of its sender's server."""
    value = event.get("origin_server_ts")
    if not isinstance(value, int | float) or isinstance(value, bool):
        return 0.0
    return min(max(float(value) / 1000, 0.0), _LATEST)


def relation(event: dict[str, Any]) -> dict[str, Any]:
    """To what an event belongs."""
    return mapping(event, "content", "m.relates_to")


def answered(event: dict[str, Any]) -> str:
    """The id of the event that a message answers; empty for none, and where a thread only says so for older programs."""
    found = relation(event)
    if found.get("is_falling_back") is True:
        return ""
    return identifier(EVENT, mapping(found, "m.in_reply_to").get("event_id"))


def thread_of(event: dict[str, Any]) -> str:
    """The id of the event with which the thread of a message begins; empty for none."""
    found = relation(event)
    return identifier(EVENT, found.get("event_id")) if found.get("rel_type") == "m.thread" else ""


def replaced(event: dict[str, Any]) -> str:
    """The id of the event whose place a message takes; empty for none."""
    found = relation(event)
    return identifier(EVENT, found.get("event_id")) if found.get("rel_type") == "m.replace" else ""
