"""Documents that a model wrote beside its answers, such as ChatGPT's canvas and Claude's artifacts: each stands where it changed last."""

import re
from collections import Counter
from dataclasses import dataclass

from imports.reading.conversation import TEXT_LIMIT, Conversation, Message

PART = "#"
"""Parts the id of a message from the number of a document in it, in the id that the document has."""

_FENCE = re.compile(r"`{3,}")
_ESCAPED = re.compile(r"\\([^\w\s])")
_LONGEST = 2 * TEXT_LIMIT
"""Characters up to which a document grows by changes: more than is kept of it."""

_READ = 500_000_000
"""Characters that are looked through for the places of all changes in one conversation: seconds; later changes are left out."""

_ALL = (".*", "(?s).*", "[\\s\\S]*")


@dataclass(slots=True)
class Document:
    """One document; `language` is set where it is code. `message` is the one that shows it."""

    name: str
    content: str
    language: str | None = None
    message: Message | None = None


class Documents:
    """Documents of one conversation, by their id there."""

    def __init__(self, found: Conversation) -> None:
        self._found = found
        self._known: dict[str, Document] = {}
        self._last: str | None = None
        self._places: dict[int, Message] = {}
        self._left = _READ

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

    def change(self, document: Document, pattern: str, replacement: str, *, everywhere: bool = False) -> None:
        """Change a part of one, as `replaced` does it."""
        self._left -= len(document.content)
        if self._left >= 0:
            document.content = replaced(document.content, pattern, replacement, everywhere=everywhere)

    def show(
        self, document: Document, time: str | None, model: str | None, node: str | None, left_out: Counter[str]
    ) -> None:
        """Let it stand at this place; what it was before is counted."""
        if document.message is not None:
            left_out["versions"] += 1
        document.message = Message("assistant", "", time, model, node)
        self._places[id(document.message)] = document.message
        self._found.messages.append(document.message)

    def settle(self) -> None:
        """Write each document as it is in the end where it changed last, and nowhere else: a thousand changes are one text."""
        if not self._places:
            return
        found, shown = self._found, {id(each.message): each for each in self._known.values()}
        messages, found.messages = found.messages, []
        for message in messages:
            if id(message) not in self._places:
                found.messages.append(message)
            elif (document := shown.get(id(message))) is not None:
                count = len(found.messages)
                found.say("assistant", _text(document), message.time, message.model, name=message.id)
                found.documents += len(found.messages) - count
        self._places.clear()


def replaced(content: str, pattern: str, replacement: str, *, everywhere: bool = False) -> str:
    """A text after a change, in which the pattern is literal: one of an export may take for ever; what fits nowhere stands at the end."""
    if pattern in _ALL:
        return replacement
    for each in dict.fromkeys((pattern, _ESCAPED.sub(r"\1", pattern))):
        if each and each in content:
            count = content.count(each) if everywhere else 1
            if len(content) + count * (len(replacement) - len(each)) > max(_LONGEST, len(content)):
                return content
            return content.replace(each, replacement, count)
    if len(content) > _LONGEST:
        return content
    return f"{content}\n\n[Changed here: {pattern[:200]}]\n{replacement}"


def _text(document: Document) -> str:
    body = document.content
    if document.language is not None:
        fence = max((*_FENCE.findall(body), "``"), key=len) + "`"
        body = f"{fence}{document.language}\n{body}\n{fence}"
    return f"[Document: {document.name}]\n\n{body}"
