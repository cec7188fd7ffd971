"""Conversations of ChatGPT's export: a tree of messages in `mapping`, of which `current_node` is the one shown last."""

from collections import Counter
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

SOURCE = "chatgpt"
_TOOLS = frozenset({"code", "execution_output", "tether_browsing_display", "tether_quote", "computer_output"})
_THOUGHTS = frozenset({"thoughts", "reasoning_recap"})
_HIDDEN = frozenset({"user_editable_context", "model_editable_context", "system_message", "system_error"})
_ROLES: dict[str, Role] = {"user": "user", "assistant": "assistant"}


def is_one(value: Any) -> bool:
    """Return True for an object with the shape of a conversation."""
    return isinstance(value, dict) and isinstance(value.get("mapping"), dict)


def read(value: dict[str, Any]) -> Iterator[Conversation]:
    """The conversation with the messages that were shown last, then its other branches, archived."""
    mapping = {str(key): fields_of(node) for key, node in value["mapping"].items()}
    parents = {key: name_of(node.get("parent")) for key, node in mapping.items()}
    original = name_of(value.get("conversation_id")) or name_of(value.get("id"))
    if original is None:
        original = next((key for key, node in mapping.items() if isinstance(node.get("message"), dict)), "unnamed")
    if not mapping:
        yield Conversation(SOURCE, original)
    said: set[str] = set()
    for number, path in enumerate(branches(parents, name_of(value.get("current_node")))):
        spoken = {key for key in path if _is_said(fields_of(mapping[key].get("message")))}
        if number and spoken <= said:
            continue  # only calls of tools, or a message that was never answered
        found = Conversation(
            SOURCE,
            original,
            branch=path[-1] if number else None,
            path=path,
            title=text_of(value.get("title")),
            created=moment(value.get("create_time")),
            updated=moment(value.get("update_time")) if number == 0 else None,
            archived=value.get("is_archived") is True or number > 0,
        )
        for key in path:
            # What a branch shares with the one shown was counted there.
            counted = Counter[str]() if key in said else found.left_out
            _add(found, key, fields_of(mapping[key].get("message")), counted)
        said |= set(path)
        found.settle()
        if number:
            found.title = f"{found.title or 'A conversation'} (branch {number + 1})"
        elif (ends := count(parents)) > BRANCHES:
            found.left_out["branches"] += ends - BRANCHES
        yield found


def _is_said(message: dict[str, Any]) -> bool:
    return text_of(fields_of(message.get("author")).get("role")) in _ROLES and bool(fields_of(message.get("content")))


def _add(found: Conversation, node: str, message: dict[str, Any], left_out: Counter[str]) -> None:
    content, metadata = fields_of(message.get("content")), fields_of(message.get("metadata"))
    if not content:
        return
    kind = text_of(content.get("content_type"))
    role = _ROLES.get(text_of(fields_of(message.get("author")).get("role")))
    if role is None:
        is_tool = fields_of(message.get("author")).get("role") == "tool"
        has_text = any(isinstance(part, str) and part for part in items_of(content.get("parts")))
        left_out["tool_calls" if is_tool else "hidden_messages"] += is_tool or has_text
        return
    if kind in _THOUGHTS:
        left_out["thoughts"] += 1
    elif kind in _HIDDEN or metadata.get("is_visually_hidden_from_conversation") is True:
        left_out["hidden_messages"] += 1
    elif kind in _TOOLS or message.get("recipient") not in (None, "all"):
        left_out["tool_calls"] += 1
    elif kind in ("text", "multimodal_text"):
        texts = [_part(part, left_out) for part in items_of(content.get("parts"))]
        left_out["files"] += len(
            [each for each in items_of(metadata.get("attachments")) if not _is_image(fields_of(each))]
        )
        text = "\n\n".join(filter(None, texts))
        found.say(role, text, moment(message.get("create_time")), name_of(metadata.get("model_slug")), name=node)
    else:
        left_out["unknown_content"] += 1


def _part(part: Any, left_out: Counter[str]) -> str:
    if isinstance(part, str):
        return part
    kind = text_of(fields_of(part).get("content_type"))
    if kind == "audio_transcription":
        return text_of(part.get("text"))
    what = "images" if "image" in kind else "audio" if "audio" in kind or "video" in kind else "unknown_content"
    left_out[what] += 1
    return ""


def _is_image(attachment: dict[str, Any]) -> bool:
    """A picture stands among the parts as well, and was counted there."""
    return text_of(attachment.get("mime_type") or attachment.get("mimeType")).startswith("image/")
