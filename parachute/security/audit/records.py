"""Receipts: the records of the audit log, each with the hash of the one before it."""

import base64
import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

BEGIN = ""
"""The `previous` of the very first record."""

_PARA_ID = re.compile(r"para:[a-z0-9_-]{1,40}:[A-Za-z0-9_-]{1,64}")
_MOST_IDS, _LOOKED_AT, _CHARACTERS = 20, 200, 500
"""Para-ids of one record, and the values of arguments in which they are looked for, each to its length."""

_TEXT_LIMIT = 500
_LIST_LIMIT = 50
_HASH_BYTES = 24


def record(
    timestamp: str,
    *,
    event_type: str,
    source_type: str,
    source_id: str,
    target_module: str,
    target_endpoint: str,
    para_ids_involved: Sequence[str] = (),
    duration_ms: int = 0,
    success: bool = True,
    error: str | None = None,
    **details: Any,
) -> dict[str, Any]:
    """A record with the fields of the specification (spec 000, "Audit Event Structure") and those `details` that say something.

    Texts and lists are cut; the caller leaves out the text of messages and whatever is secret.
    """
    fields = {
        "event_type": event_type,
        "source_type": source_type,
        "source_id": source_id,
        "target_module": target_module,
        "target_endpoint": target_endpoint,
        "para_ids_involved": list(para_ids_involved),
        "duration_ms": duration_ms,
        "success": success,
        "error": error or None,
        **{name: value for name, value in details.items() if value or value is False},
    }
    return {"timestamp": timestamp, **{name: _bounded(value) for name, value in fields.items()}}


def para_ids(value: Any) -> list[str]:
    """The para-ids in arguments, a path or data of an event, at any depth, in order and each once."""
    found: dict[str, None] = {}
    waiting = [value]
    for _ in range(_LOOKED_AT):
        if not waiting or len(found) >= _MOST_IDS:
            break
        each = waiting.pop(0)
        if isinstance(each, str):
            found.update(dict.fromkeys(_PARA_ID.findall(each[:_CHARACTERS])))
        elif isinstance(each, Mapping):
            waiting.extend(list(each.values())[:_LOOKED_AT])
        elif isinstance(each, list | tuple):
            waiting.extend(each[:_LOOKED_AT])
    return list(found)[:_MOST_IDS]


def line(fields: Mapping[str, Any], previous: str) -> bytes:
    """The bytes of a record in its file, without the end of the line."""
    text = json.dumps({**fields, "previous": previous}, ensure_ascii=False)
    # An agent names its tools itself, also with halves of characters that no encoding has.
    return text.encode(errors="replace")


def digest(written: bytes) -> str:
    """The hash of a line, as the next one holds it: the first 192 bits of SHA-256 in base64."""
    return base64.urlsafe_b64encode(hashlib.sha256(written).digest()[:_HASH_BYTES]).decode()


def previous_of(written: bytes) -> str | None:
    """Return the hash of the record before, as a line has it; None for a line of an older version, and for one that is no record."""
    try:
        fields = json.loads(written)
    except (ValueError, RecursionError):
        return None
    previous = fields.get("previous") if isinstance(fields, dict) else None
    return previous if isinstance(previous, str) else None


def _bounded(value: Any) -> Any:
    if isinstance(value, str):
        return value[:_TEXT_LIMIT]
    if isinstance(value, Mapping):
        return {str(name)[:_TEXT_LIMIT]: _bounded(each) for name, each in list(value.items())[:_LIST_LIMIT]}
    if isinstance(value, Sequence):
        return [_bounded(each) for each in value[:_LIST_LIMIT]]
    return value
