"""Conversations of Claude's export, with the text of what was attached, and the documents of its projects."""

from collections.abc import Iterator
from typing import Any

from imports.reading.conversation import (
    Conversation,
    Role,
    fields_of,
    items_of,
    moment,
    name_of,
    text_of,
)
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
        for message in path:
            before = None if id(message) not in told else found.left_out.copy()
            _add(found, message)
            if before is not None:
                found.left_out = before
        told |= {id(message) for message in path}
        found.settle()
        if number:
            found.title = f"{found.title or 'A conversation'} (branch {number + 1})"
        yield found


def _paths(messages: list[dict[str, Any]], current: str | None) -> list[list[dict[str, Any]]]:
    known = {name: each for each in messages if (name := name_of(each.get("uuid")))}
    parents = {name: name_of(each.get("parent_message_uuid")) for name, each in known.items()}
    parents = {name: parent if parent in known else None for name, parent in parents.items()}
    if len(known) < len(messages) or not any(parents.values()) or count(parents) in (0, 1):
        return [messages]
    found = list(branches(parents, current))
    return [[known[name] for name in path] for path in found[:BRANCHES]]


def _add(found: Conversation, message: dict[str, Any]) -> None:
    role = _ROLES.get(text_of(message.get("sender")))
    if role is None:
        found.left_out["malformed"] += 1
        return
    texts = []
    for block in items_of(message.get("content")):
        kind = text_of(fields_of(block).get("type"))
        if kind == "text":
            texts.append(text_of(block.get("text")))
        else:
            found.left_out[_LEFT_OUT.get(kind, "unknown_content")] += 1
    if not any(texts):
        texts = [text_of(message.get("text"))]
    attached = set()
    for attachment in map(fields_of, items_of(message.get("attachments"))):
        name = name_of(attachment.get("file_name")) or "attachment"
        attached.add(name)
        if text := text_of(attachment.get("extracted_content")):
            texts.append(f"[Attached: {name}]\n{text}")
        else:
            _leave_out(found, name)
    for file in map(fields_of, [*items_of(message.get("files")), *items_of(message.get("files_v2"))]):
        if (name := name_of(file.get("file_name")) or "file") not in attached:
            attached.add(name)
            _leave_out(found, name)
    found.say(
        role, "\n\n".join(filter(None, texts)), moment(message.get("created_at")), name=name_of(message.get("uuid"))
    )


def _leave_out(found: Conversation, name: str) -> None:
    found.left_out["images" if name.lower().endswith(_PICTURES) else "files"] += 1


def documents(project: dict[str, Any]) -> Iterator[tuple[tuple[str, str], str, str | None]]:
    """The texts of a project: (folder, name), text and time. Which conversations belong to it no export says."""
    folder = name_of(project.get("name")) or name_of(project.get("uuid")) or "A project"
    if text := text_of(project.get("prompt_template")):
        yield (folder, "Project instructions.md"), text, moment(project.get("updated_at"))
    for document in map(fields_of, items_of(project.get("docs"))):
        if text := text_of(document.get("content")):
            name = name_of(document.get("filename")) or name_of(document.get("uuid")) or "document.md"
            yield (folder, name), text, moment(document.get("created_at"))


def is_project(value: Any) -> bool:
    """Return True for an object with the shape of a project."""
    return isinstance(value, dict) and isinstance(value.get("docs"), list)
