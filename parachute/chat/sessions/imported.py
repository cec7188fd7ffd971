"""A session made from what an import says of it: the first line of what it brought, which is read as untrusted input."""

from collections.abc import Iterable
from contextlib import suppress
from typing import Any

from parachute.base.clock import now
from parachute.base.errors import InvalidInput
from parachute.base.messengers import MESSENGERS
from parachute.chat.sessions.messages import assistant_text, user_text
from parachute.chat.sessions.models import Session
from parachute.security.trust_levels import normalize_trust_level

IMPORT = "import"
"""The key of a session's metadata that names the import which brought it."""

IMPORTED_KINDS = {"user": "imported_user", "assistant": "imported_assistant"}
"""The kinds of its texts in the search: nothing takes them for words that were said here."""

_SOURCES = ("parachute", "chatgpt", "claude", "gemini", "librechat", "lmstudio", "openwebui", *MESSENGERS)
_TITLE = 250
_MOST = 10_000_000


def session_of(origin: dict[str, Any], identifier: str, *, import_id: str | None = None, more: int = 0) -> Session:
    """The session, in a sandbox whatever its origin says; `more` messages were said here since."""
    moment = now()
    created = _text(origin, "created") or moment
    count = origin.get("messages")
    count = count if isinstance(count, int) and 0 <= count <= _MOST else 0
    source, labels = _text(origin, "source"), origin.get("labels")
    known: dict[str, Any] = {"id": import_id or _text(origin, "import"), "messages": count}
    if isinstance(labels, dict):
        known |= {str(name)[:40]: value[:_TITLE] for name, value in list(labels.items())[:10] if isinstance(value, str)}
    if fingerprint := _text(origin, "fingerprint"):
        known["fingerprint"] = fingerprint
    if level := known.pop("trustLevel", None):
        with suppress(InvalidInput):
            known["trustLevel"] = normalize_trust_level(str(level))
    return Session(
        id=identifier,
        created_at=created,
        updated_at=moment if more else _text(origin, "updated") or created,
        title=_text(origin, "title"),
        message_count=count + more,
        archived=origin.get("archived") is True,
        source=source if source in _SOURCES else "parachute",
        original_id=_text(origin, "original"),
        metadata={IMPORT: known},
    )


def imported_texts(events: Iterable[dict[str, Any]], limit: int) -> list[tuple[str, str]]:
    """The texts of what an import brought, for the search; the first `limit` characters of each."""
    found = ((IMPORTED_KINDS.get(event["type"]), user_text(event) or assistant_text(event)) for event in events)
    return [(kind, text[:limit]) for kind, text in found if kind and text]


def _text(origin: dict[str, Any], name: str) -> str | None:
    value = origin.get(name)
    return value[:_TITLE] if isinstance(value, str) and value else None
