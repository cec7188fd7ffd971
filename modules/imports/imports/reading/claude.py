"""Conversations of Claude's export, with the text of what was attached, and its artifacts as they are in the end."""

import re
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Any

from imports.reading.conversation import (
    Conversation,
    Role,
    fields_of,
    items_of,
    moment,
    name_of,
    text_of,
    unknown,
)
from imports.reading.documents import PART, Document, Documents
from imports.reading.trees import BRANCHES, branches, count

SOURCE = "claude"
_ROLES: dict[str, Role] = {"human": "user", "user": "user", "assistant": "assistant"}
_LEFT_OUT = {
    "tool_use": "tool_calls",
    "tool_result": "tool_calls",
    "thinking": "thoughts",
    "redacted_thinking": "thoughts",
    "image": "images",
    "flag": "hidden_messages",
    "token_budget": "hidden_messages",
}
_SAID = frozenset({"text", "voice_note"})
_CODE = "application/vnd.ant.code"
_LANGUAGE = 40
_UNSUPPORTED_WORDS = "This block is not supported on your current device yet."
_UNSUPPORTED = re.compile(rf"(```[ ]*\n)?{re.escape(_UNSUPPORTED_WORDS)}[ ]*(?(1)\n```)")
_PICTURES = (".png", ".jpg", ".jpeg", ".gif", ".webp", ".heic")


def is_one(value: Any) -> bool:
    """Return True for an object with the shape of a conversation."""
    return isinstance(value, dict) and isinstance(value.get("chat_messages"), list)


def read(value: dict[str, Any]) -> Iterator[Conversation]:
    """The conversation as it is listed; where it was edited, what was shown last, and then its other branches, archived."""
    messages = [each for each in value["chat_messages"] if isinstance(each, dict)]
    original = name_of(value.get("uuid")) or next(
        (name for each in messages if (name := name_of(each.get("uuid")))), "unnamed"
    )
    paths = _paths(messages, name_of(value.get("current_leaf_message_uuid")))
    told: set[int] = set()
    for number, path in enumerate(paths):
        names = [name for message in path if (name := name_of(message.get("uuid")))]
        found = Conversation(
            SOURCE,
            original,
            branch=names[-1] if number else None,
            path=names,
            title=text_of(value.get("name")),
            created=moment(value.get("created_at")),
            updated=moment(value.get("updated_at")) if number == 0 else None,
            archived=number > 0,
        )
        documents = Documents(found)
        for message in path:
            before = None if id(message) not in told else found.left_out.copy()
            _add(found, documents, message)
            if before is not None:
                found.left_out = before
        documents.settle()
        told |= {id(message) for message in path}
        found.settle(number)
        yield found


def _paths(messages: list[dict[str, Any]], current: str | None) -> list[list[dict[str, Any]]]:
    known = {name: each for each in messages if (name := name_of(each.get("uuid")))}
    parents = {name: name_of(each.get("parent_message_uuid")) for name, each in known.items()}
    parents = {name: parent if parent in known else None for name, parent in parents.items()}
    if len(known) < len(messages) or not any(parents.values()) or count(parents) in (0, 1):
        return [messages]
    found = list(branches(parents, current))
    return [[known[name] for name in path] for path in found[:BRANCHES]]


def _add(found: Conversation, documents: Documents, message: dict[str, Any]) -> None:
    role = _ROLES.get(text_of(message.get("sender")))
    if role is None:
        found.left_out["malformed"] += 1
        return
    time, node = moment(message.get("created_at")), name_of(message.get("uuid"))
    texts, written = [], []
    for block in map(fields_of, items_of(message.get("content"))):
        kind = text_of(block.get("type"))
        if kind in _SAID:
            texts.append(_said(text_of(block.get("text"))))
        elif kind == "tool_use" and (document := _document(documents, block)):
            written.append(document)
        else:
            found.left_out[_LEFT_OUT.get(kind) or unknown(kind)] += 1
    if not any(texts):
        texts = [_said(text_of(message.get("text")))]
    attached = set()
    for attachment in map(fields_of, items_of(message.get("attachments"))):
        name = name_of(attachment.get("file_name")) or "attachment"
        attached.add(name)
        if text := text_of(attachment.get("extracted_content")):
            texts.append(f"[Attached: {name}]\n{text}")
        elif mark := _leave_out(found, name):
            texts.append(mark)
    for file in map(fields_of, [*items_of(message.get("files")), *items_of(message.get("files_v2"))]):
        if (name := name_of(file.get("file_name")) or "file") not in attached:
            attached.add(name)
            texts.append(_leave_out(found, name))
    found.say(role, "\n\n".join(filter(None, texts)), time, name=node)
    for number, document in enumerate({id(each): each for each in written}.values()):
        documents.show(document, time, None, node and f"{node}{PART}{number}", found.left_out)


def _document(documents: Documents, block: dict[str, Any]) -> Document | None:
    """Make or change the document of a call: an artifact, or a file as later programs write them; None for other calls."""
    called, tool = fields_of(block.get("input")), text_of(block.get("name"))
    key, old, new = name_of(called.get("id")), called.get("old_str"), called.get("new_str")
    whole = called.get("content")
    if tool in ("create_file", "str_replace"):
        key, whole = name_of(called.get("path")), called.get("file_text")
    elif tool != "artifacts":
        return None
    if key is None:
        return None
    if isinstance(whole, str) and tool != "str_replace":
        kind = text_of(called.get("type"))
        title = name_of(called.get("title")) or (PurePosixPath(key).name if tool == "create_file" else None)
        language = text_of(called.get("language"))[:_LANGUAGE] if kind == _CODE else None
        return documents.write(key, title, whole, language)
    document = documents.get(key, exactly=True)
    if document is None or not isinstance(old, str) or not isinstance(new, str):
        return None
    documents.change(document, old, new)
    return document


def _said(text: str) -> str:
    """A text without what stands there for blocks that an older program could not show."""
    return _UNSUPPORTED.sub("", text).strip("\n") if _UNSUPPORTED_WORDS in text else text


def _leave_out(found: Conversation, name: str) -> str:
    """Count a file of which there is no text; what stands in its place."""
    is_picture = name.lower().endswith(_PICTURES)
    found.left_out["images" if is_picture else "files"] += 1
    return f"[Picture: {name}]" if is_picture else ""


def is_design(value: Any) -> bool:
    """Return True for an object with the shape of a chat about a design."""
    return isinstance(value, dict) and "uuid" in value and isinstance(value.get("messages"), list)


def read_design(value: dict[str, Any]) -> Conversation:
    """A chat about a design, whose messages are in order."""
    found = Conversation(
        SOURCE,
        name_of(value.get("uuid")) or "unnamed",
        title=text_of(value.get("title")),
        created=moment(value.get("created_at")),
        updated=moment(value.get("updated_at")),
    )
    documents = Documents(found)
    for message in map(fields_of, items_of(value.get("messages"))):
        held = message.get("content")
        content = fields_of(held)
        blocks = items_of(held) or items_of(content.get("contentBlocks"))
        plain = text_of(held) or text_of(content.get("content"))
        blocks = blocks or ([{"type": "text", "text": plain}] if plain else [])
        attachments = items_of(content.get("attachments"))
        sender = {"content": blocks, "attachments": attachments, "sender": message.get("role")}
        _add(found, documents, {**message, **sender})
        found.path += filter(None, [name_of(message.get("uuid"))])
    documents.settle()
    return found
