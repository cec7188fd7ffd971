"""A conversation as LM Studio keeps it on the disk: each message in its versions, of which one is shown."""

import re
from collections.abc import Iterator
from typing import Any

from imports.reading.attached import Attached
from imports.reading.conversation import (
    Attachment,
    Conversation,
    Role,
    fields_of,
    items_of,
    moment,
    name_of,
    text_of,
    unknown,
)

SOURCE = "lmstudio"
_ROLES: dict[str, Role] = {"user": "user", "assistant": "assistant"}
_MOMENT = re.compile(r"(\d{13})-")
_FIRST = 3
_UNSEEN = frozenset({"debugInfoBlock", "separator"})


def is_one(value: Any) -> bool:
    """Return True for an object with the shape of a conversation."""
    found = fields_of(value)
    messages = found.get("messages")
    return (
        "createdAt" in found
        and isinstance(messages, list)
        and all(isinstance(fields_of(each).get("versions"), list) for each in messages[:_FIRST])
    )


def read(value: dict[str, Any], attached: Attached) -> Iterator[Conversation]:
    """The conversation with the versions that are shown."""
    created = value.get("createdAt")
    last = [value.get(name) for name in ("userLastMessagedAt", "assistantLastMessagedAt")]
    found = Conversation(
        SOURCE,
        name_of(created) or "unnamed",
        title=text_of(value.get("name")),
        created=_moment(created),
        updated=max(filter(None, map(_moment, last)), default=None),
    )
    if text_of(value.get("systemPrompt")).strip():
        found.left_out["hidden_messages"] += 1
    for message in map(fields_of, value["messages"]):
        versions = [each for each in items_of(message.get("versions")) if isinstance(each, dict)]
        if not versions:
            found.left_out["malformed"] += 1
            continue
        selected = message.get("currentlySelected")
        shown = selected if isinstance(selected, int) and 0 <= selected < len(versions) else 0
        if len(versions) > 1:
            found.left_out["versions"] += len(versions) - 1
        _add(found, versions[shown], attached)
    yield found


def _add(found: Conversation, version: dict[str, Any], attached: Attached) -> None:
    role = _ROLES.get(text_of(version.get("role")))
    if role is None:
        found.left_out["hidden_messages"] += 1
        return
    parts = list(items_of(version.get("content")))
    time = None
    for step in map(fields_of, items_of(version.get("steps"))):
        kind = text_of(step.get("type"))
        if begun := _MOMENT.match(text_of(step.get("stepIdentifier"))):
            time = time or _moment(int(begun[1]))
        if kind == "contentBlock" and fields_of(step.get("style")).get("type") == "thinking":
            found.left_out["thoughts"] += 1
        elif kind == "contentBlock":
            parts += items_of(step.get("content"))
        elif kind.startswith("tool"):
            found.left_out["tool_calls"] += 1
        elif kind not in _UNSEEN:
            found.left_out[unknown(kind)] += 1
    texts: list[str] = []
    files: list[Attachment] = []
    for part in map(fields_of, parts):
        kind, name = text_of(part.get("type")), text_of(part.get("fileIdentifier"))
        if kind == "text":
            texts.append(text_of(part.get("text")))
        elif kind == "file" and (file := attached.find(name)):
            files.append(file)
        elif kind == "file":
            is_picture = part.get("fileType") == "image"
            found.left_out["images" if is_picture else "files"] += 1
            texts += [f"[Picture: {name}]"] if is_picture and name else []
        elif kind.startswith("tool"):
            found.left_out["tool_calls"] += 1
        else:
            found.left_out[unknown(kind)] += 1
    model = name_of(fields_of(version.get("senderInfo")).get("senderName")) if role == "assistant" else None
    found.say(role, "\n\n".join(filter(None, texts)), time, model, files=files)


def _moment(value: Any) -> str | None:
    """A time in milliseconds."""
    return moment(value / 1000) if isinstance(value, int | float) and not isinstance(value, bool) else None
