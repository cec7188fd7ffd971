"""Conversations for an archive: what was said, as JSON and as a page to read; calls of tools are not what was said."""

import json
import re
import unicodedata
from collections.abc import Iterator
from html import escape

from msgspec import Struct, to_builtins

from parachute.chat.sessions.messages import Message as Said
from parachute.chat.sessions.models import SHORT_TITLE, Session

_WORDS = re.compile(r"[^\w]+")
_NAMED = {"user": "You", "assistant": "Agent"}
_MOST_MARKED = 20_000
"""Characters; what draws Markdown takes time by the square of hostile ones."""
_HEAD = """<!doctype html>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<style>
:root { color-scheme: light dark }
body { max-width: 44rem; margin: 2rem auto; padding: 0 1rem; font: 1rem/1.6 system-ui, sans-serif; overflow-wrap: anywhere }
article { margin: 1.5rem 0 }
.user { padding: 0.5rem 1rem; border-radius: 0.75rem; background: color-mix(in srgb, currentColor 7%, transparent) }
h2 { font-size: 1rem } time { font-weight: normal; opacity: 0.7 } pre { overflow-x: auto; white-space: pre-wrap }
table { border-collapse: collapse } td, th { padding: 0.2rem 0.6rem; border: 1px solid }
</style>
"""


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
    return "".join(page_parts(found)).encode("utf-8", "replace")


def page_parts(found: Conversation) -> Iterator[str]:
    """The same form, message by message."""
    yield f"# {found.title or 'Conversation'}\n\n{found.created or 'unknown'}, {found.id}\n"
    for message in found.messages:
        time = f" ({message.time})" if message.time else ""
        yield f"\n## {_NAMED[message.role]}{time}\n\n{message.text}\n"


def html_parts(found: Conversation) -> Iterator[str]:
    """A page for any browser, message by message; it loads nothing, and shows HTML in a message as text."""
    from markdown_it import MarkdownIt  # not for the start of the server

    markdown = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"]).disable("image")
    title = escape(found.title or "Conversation")
    yield f"{_HEAD}<title>{title}</title>\n<h1>{title}</h1>\n<p><time>{escape(found.created)}</time></p>\n"
    for message in found.messages:
        said = f"<h2>{_NAMED[message.role]} <time>{escape(message.time or '')}</time></h2>"
        # Markdown takes time that grows with the square of some texts.
        text = (
            markdown.render(message.text) if len(message.text) < _MOST_MARKED else f"<pre>{escape(message.text)}</pre>"
        )
        yield f'<article class="{message.role}">{said}\n{text}</article>\n'


def page_name(found: Conversation) -> str:
    """A name to find it by: its day, its title, and what tells it from others."""
    plain = unicodedata.normalize("NFC", found.title or "")
    words = _WORDS.sub("-", plain).strip("-_")[:60].strip("-_")
    return "-".join(filter(None, ((found.created or "")[:10], words, found.id[:8])))
