"""Documents that a model wrote beside its answers, such as ChatGPT's canvas and Claude's artifacts: each stands where it changed last."""

import re
from dataclasses import dataclass

from imports.reading.conversation import Conversation, Message

PART = "#"
"""Parts the id of a message from the number of a document in it, in the id that the document has."""

_FENCE = re.compile(r"`{3,}")
_ESCAPED = re.compile(r"\\([^\w\s])")
_ALL = (".*", "(?s).*", "[\\s\\S]*")


@dataclass(slots=True)
class Document:
    """One document; `language` is set where it is code. `message` is the one that shows it."""

    name: str
    content: str
    language: str | None = None
    message: Message | None = None


class Documents:
    """Those of one conversation, by their id there."""

    def __init__(self, found: Conversation) -> None:
        self._found = found
        self._known: dict[str, Document] = {}
        self._last: str | None = None

    def write(self, key: str, name: str | None, content: str, language: str | None) -> Document:
        """Make a document, or write all of it anew."""
        before = self._known.get(key)
        document = Document(name or (before.name if before else "Document"), content, language)
        if before is not None:
            document.message, document.language = before.message, language or before.language
        self._known[key] = document
        self._last = key
        return document

    def get(self, key: str | None, *, exactly: bool = False) -> Document | None:
        """A document, by its id; the one that changed last where that is None or unknown, unless it is meant exactly."""
        if exactly and key not in self._known:
            return None
        key = key if key in self._known else self._last
        self._last = key
        return self._known[key] if key is not None else None

    def show(self, document: Document, time: str | None, model: str | None, node: str | None) -> None:
        """Let it stand at this place, as it is now."""
        messages = self._found.messages
        if document.message is not None:
            messages[:] = [each for each in messages if each is not document.message]
            self._found.documents -= 1
        count = len(messages)
        self._found.say("assistant", _text(document), time, model, name=node)
        document.message = messages[-1] if len(messages) > count else None
        self._found.documents += document.message is not None


def replaced(content: str, pattern: str, replacement: str, *, everywhere: bool = False) -> str:
    """A text after a change, in which the pattern is literal: one of an export may take for ever; what fits nowhere stands at the end."""
    if pattern in _ALL:
        return replacement
    for each in (pattern, _ESCAPED.sub(r"\1", pattern)):
        if each and each in content:
            return content.replace(each, replacement, -1 if everywhere else 1)
    return f"{content}\n\n[Changed here: {pattern[:200]}]\n{replacement}"


def _text(document: Document) -> str:
    body = document.content
    if document.language is not None:
        fence = max((*_FENCE.findall(body), "``"), key=len) + "`"
        body = f"{fence}{document.language}\n{body}\n{fence}"
    return f"[Document: {document.name}]\n\n{body}"
