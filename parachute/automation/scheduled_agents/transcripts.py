"""The transcript of an agent's run in the app's form (contract, section 9)."""

import json
from collections import deque
from collections.abc import Iterable
from typing import Any

from parachute.base.answers import Answer
from parachute.chat.sessions.messages import result_text

_TEXT = 20_000
"""Characters of one part of a message."""


class TranscriptBlock(Answer, frozen=True):
    """A part of a message."""

    type: str
    text: str | None = None
    name: str | None = None
    input: str | None = None
    tool_use_id: str | None = None


class TranscriptMessage(Answer, frozen=True):
    """A message: its text, or its parts."""

    type: str
    timestamp: str | None
    content: str | None
    blocks: list[TranscriptBlock] | None
    model: str | None


class Transcript(Answer, frozen=True, rename="camel"):
    """The newest messages, oldest first; `total_messages` counts all of them, and `message` says why there is none."""

    has_transcript: bool
    session_id: str | None
    total_messages: int
    messages: list[TranscriptMessage]
    message: str | None


def transcript_of(session: str | None, events: Iterable[dict[str, Any]], limit: int) -> Transcript:
    """The newest messages of a session."""
    newest: deque[dict[str, Any]] = deque(maxlen=limit)
    total = 0
    for event in events:
        if event["type"] in ("user", "assistant") and "message" in event:
            total += 1
            newest.append(event)
    nothing = "There is no conversation of this agent." if session is None else "Nothing was said in it."
    return Transcript(total > 0, session, total, [_message(event) for event in newest], None if total else nothing)


def _message(event: dict[str, Any]) -> TranscriptMessage:
    message = event["message"]
    time, model = event.get("timestamp"), message.get("model")
    time = time if isinstance(time, str) else None
    if isinstance(content := message["content"], str):
        return TranscriptMessage(event["type"], time, content[:_TEXT], None, model)
    return TranscriptMessage(event["type"], time, None, [_block(block) for block in content], model)


def _block(block: dict[str, Any]) -> TranscriptBlock:
    match kind := block["type"]:
        case "text" | "thinking":
            return TranscriptBlock(kind, text=block[kind][:_TEXT])
        case "tool_use":
            given = json.dumps(block["input"], ensure_ascii=False)[:_TEXT]
            return TranscriptBlock(kind, name=block["name"], input=given, tool_use_id=block["id"])
        case "tool_result":
            text = result_text(block["content"])[:_TEXT]
            return TranscriptBlock(kind, text=text, tool_use_id=block["tool_use_id"])
    return TranscriptBlock(kind)
