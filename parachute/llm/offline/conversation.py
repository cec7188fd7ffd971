"""Reduces what an agent's command line program sends to the plain conversation that a small model understands."""

import json
from collections.abc import Iterable
from typing import Any, Literal

from msgspec import Struct

from parachute.base.errors import InvalidInput

# Measured with SmolLM2-135M-Instruct: a longer or vaguer prompt makes it answer in other languages and ramble.
SYSTEM_PROMPT = "You are a helpful assistant running on this computer. Give short, correct answers in plain language."

_REMINDER_START = "<system-reminder>"
_REMINDER_END = "</system-reminder>"
_TOOL_INPUT_CHARACTERS = 200
_TOOL_RESULT_CHARACTERS = 600


class Turn(Struct, frozen=True):
    """One side's text."""

    role: Literal["user", "assistant"]
    text: str


def reduce_conversation(messages: Iterable[dict[str, Any]]) -> list[Turn]:
    """Plain turns, roles alternating, the first and the last one the user's; error: InvalidInput when none is left."""
    turns: list[Turn] = []
    for message in messages:
        role = message["role"]
        if role not in ("user", "assistant"):
            continue  # environment and instructions for a large model
        text = _text_of(message["content"])
        if not text:
            continue
        if turns and turns[-1].role == role:
            turns[-1] = Turn(role, f"{turns[-1].text}\n\n{text}")
        else:
            turns.append(Turn(role, text))
    # A trailing assistant turn is the beginning of an answer in a format that this model cannot keep.
    while turns and turns[-1].role == "assistant":
        turns.pop()
    while turns and turns[0].role == "assistant":
        turns.pop(0)
    if not turns:
        raise InvalidInput("messages: must hold at least one user message with text.", key="no_user_message")
    return turns


def without_reminders(text: str) -> str:
    """Drop every closed system-reminder section; a tag without its end is the user's own text and stays."""
    parts: list[str] = []
    position = 0
    # By search and not by a regular expression: many opening tags without an end would take quadratic time.
    while (start := text.find(_REMINDER_START, position)) >= 0:
        end = text.find(_REMINDER_END, start)
        if end < 0:
            break
        parts.append(text[position:start])
        position = end + len(_REMINDER_END)
    parts.append(text[position:])
    return "".join(parts).strip()


def _text_of(content: str | list[Any]) -> str:
    if isinstance(content, str):
        return without_reminders(content)
    return "\n\n".join(text for block in content if (text := _text_of_block(block)))


def _text_of_block(block: dict[str, Any]) -> str:
    match block["type"]:
        case "text":
            return without_reminders(block["text"])
        case "tool_use" | "server_tool_use":
            called_with = json.dumps(block.get("input"), ensure_ascii=False)
            return f"[used the tool {block.get('name')}: {_shortened(called_with, _TOOL_INPUT_CHARACTERS)}]"
        case "tool_result":
            outcome = "failed" if block.get("is_error") else "answered"
            return f"[the tool {outcome}: {_shortened(_result_text(block), _TOOL_RESULT_CHARACTERS)}]"
        case "image" | "document":
            return f"[{block['type']}]"
        case _:
            return ""  # thinking, and whatever else only a large model understands


def _result_text(block: dict[str, Any]) -> str:
    content = block.get("content")
    if isinstance(content, str):
        return without_reminders(content)
    texts = (part.get("text") for part in content if isinstance(part, dict)) if isinstance(content, list) else ()
    return without_reminders("\n".join(text for text in texts if isinstance(text, str)))


def _shortened(text: str, limit: int) -> str:
    return text if len(text) <= limit else f"{text[:limit]}…"
