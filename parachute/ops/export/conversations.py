"""Conversations for an archive: what was said, as JSON and as a page to read; calls of tools are not what was said."""

import json
import re
import unicodedata

from msgspec import Struct, to_builtins

from parachute.chat.sessions.messages import Message as Said
from parachute.chat.sessions.models import SHORT_TITLE, Session

_WORDS = re.compile(r"[^\w]+")
_NAMED = {"user": "You", "assistant": "Agent"}


class Message(Struct, frozen=True):
    """One thing that was said; `time` is ISO 8601 in UTC."""

    role: str
    text: str
    time: str | None
    model: str | None


class Conversation(Struct, frozen=True):
    """A conversation as it stands in the archive, and as an import reads it again."""

    id: str
    title: str | None
    created: str
    updated: str
    archived: bool
    source: str
    original: str
    messages: tuple[Message, ...]


def conversation_of(session: Session, messages: list[Said]) -> Conversation:
    """The conversation of a session; a message without a time has that of the one before it."""
    said: list[Message] = []
    time = session.created_at
    for message in messages:
        text = "\n\n".join(block["text"] for block in message["content"] if block["type"] == "text")
        time = message["timestamp"] or time
        if text.strip():
            model = message["model"] if message["role"] == "assistant" else None
            said.append(Message(message["role"], text, time, model))
    first = next((each.text for each in said if each.role == "user"), "")
    return Conversation(
        id=session.id,
        title=" ".join((session.title or "").split())
        or " ".join(first[: 2 * SHORT_TITLE].split())[:SHORT_TITLE]
        or None,
        created=session.created_at,
        updated=session.updated_at,
        archived=session.archived,
        source=session.source or "parachute",
        original=session.original_id or session.id,
        messages=tuple(said),
    )


def as_json(found: Conversation) -> bytes:
    """The form that is imported again."""
    return (json.dumps(to_builtins(found), ensure_ascii=False, indent=1) + "\n").encode("utf-8", "replace")


def as_page(found: Conversation) -> bytes:
    """The form that is read."""
    parts = [f"# {found.title or 'Conversation'}", f"{found.created or 'unknown'}, {found.id}"]
    for message in found.messages:
        time = f" ({message.time})" if message.time else ""
        parts.append(f"## {_NAMED[message.role]}{time}\n\n{message.text}")
    return ("\n\n".join(parts) + "\n").encode("utf-8", "replace")


def page_name(found: Conversation) -> str:
    """A name to find it by: its day, its title, and what tells it from others."""
    plain = unicodedata.normalize("NFC", found.title or "")
    words = _WORDS.sub("-", plain).strip("-_")[:60].strip("-_")
    return "-".join(filter(None, ((found.created or "")[:10], words, found.id[:8])))
