"""A conversation as LibreChat exports it: its messages know the one before them, in a list or each in the one before it."""

from collections import Counter
from collections.abc import Iterator
from typing import Any

from imports.reading.attached import Attached
from imports.reading.conversation import Conversation, fields_of, items_of, moment, name_of, text_of, unknown
from imports.reading.trees import branches, count

SOURCE = "librechat"
_MEMBERS = ("messages", "messagesTree")
_LEFT_OUT = {"think": "thoughts", "tool_call": "tool_calls", "image_file": "images", "image_url": "images"}


def is_one(value: Any) -> bool:
    """Return True for an object with the shape of a conversation."""
    found = fields_of(value)
    return "conversationId" in found and any(isinstance(found.get(name), list) for name in _MEMBERS)


def read(value: dict[str, Any], _: Attached) -> Iterator[Conversation]:
    """The conversation up to what was said last, then its other branches, archived."""
    listed = [fields_of(each) for name in _MEMBERS for each in items_of(value.get(name))]
    messages = {name: each for each in listed if (name := name_of(each.get("messageId")))}
    parents = {name: name_of(each.get("parentMessageId")) for name, each in messages.items()}
    original = name_of(value.get("conversationId")) or next(iter(messages), "unnamed")
    if not messages:
        yield Conversation(SOURCE, original)
    # Of several at one time the last.
    newest = max(reversed(messages), key=lambda name: moment(messages[name].get("createdAt")) or "", default=None)
    said: set[str] = set()
    ends = count(parents)
    for number, path in enumerate(branches(parents, newest)):
        found = Conversation(
            SOURCE,
            original,
            branch=path[-1] if number else None,
            path=path,
            title=text_of(value.get("title")),
            archived=number > 0,
        )
        for name in path:
            # What a branch shares with the one before was counted there.
            _add(found, name, messages[name], Counter[str]() if name in said else found.left_out)
        said |= set(path)
        found.settle(number, ends)
        yield found


def _add(found: Conversation, name: str, message: dict[str, Any], left_out: Counter[str]) -> None:
    is_person = message.get("isCreatedByUser") is True
    texts = [text_of(message.get("text"))]
    for part in map(fields_of, items_of(message.get("content"))):
        kind = text_of(part.get("type"))
        held = part.get(kind)
        if kind in ("text", "error"):
            texts.append(text_of(held) or text_of(fields_of(held).get("value")))
        else:
            left_out[_LEFT_OUT.get(kind) or unknown(kind)] += 1
    for file in map(fields_of, [*items_of(message.get("files")), *items_of(message.get("attachments"))]):
        is_picture = text_of(file.get("type")).startswith("image/")
        left_out["images" if is_picture else "files"] += 1
        texts += [f"[Picture: {file['filename']}]"] if is_picture and name_of(file.get("filename")) else []
    time, model = moment(message.get("createdAt")), name_of(message.get("model"))
    text = "\n\n".join(filter(None, dict.fromkeys(texts)))
    found.say("user" if is_person else "assistant", text, time, None if is_person else model, name=name)
