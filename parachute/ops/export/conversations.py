"""Conversations for an archive: what was said, as JSON and as a page to read; calls of tools are not what was said."""

import json
import re
import unicodedata

from parachute.chat.imports.reading.brain import document
from parachute.chat.imports.reading.conversation import Conversation, moment, name_of
from parachute.chat.sessions.messages import Message
from parachute.chat.sessions.models import Session

_WORDS = re.compile(r"[^\w]+")
_NAMED = {"user": "You", "assistant": "Agent"}


def conversation_of(session: Session, messages: list[Message]) -> Conversation:
    """A conversation as an import would read it again."""
    found = Conversation(
        source=session.source or "parachute",
        original=session.original_id or session.id,
        title=session.title,
        created=moment(session.created_at),
        updated=moment(session.updated_at),
        archived=session.archived,
        session=session.id,
    )
    for message in messages:
        text = "\n\n".join(block["text"] for block in message["content"] if block["type"] == "text")
        found.say(message["role"], text, moment(message["timestamp"]), name_of(message["model"]))
    found.settle()
    return found


def as_json(found: Conversation) -> bytes:
    """The form that is imported again."""
    return (json.dumps(document(found), ensure_ascii=False, indent=1) + "\n").encode("utf-8", "replace")


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
