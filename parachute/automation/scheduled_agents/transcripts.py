"""The transcript of an agent's run in the app's form (contract, section 9)."""

import json
from collections import deque
from collections.abc import Iterable
from typing import Any

from pydantic import BaseModel

from parachute.automation.scheduled_agents.listing import Camel
from parachute.chat.sessions.messages import result_text

_TEXT = 20_000
"""Characters of one part of a message."""


class TranscriptBlock(BaseModel):
    """A part of a message."""

    type: str
    text: str | None = None
    name: str | None = None
    input: str | None = None
    tool_use_id: str | None = None


class TranscriptMessage(BaseModel):
    """A message: its text, or its parts."""

    type: str
    timestamp: str | None
    content: str | None
    blocks: list[TranscriptBlock] | None
    model: str | None


class Transcript(Camel):
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
    return Transcript(
        has_transcript=total > 0,
        session_id=session,
        total_messages=total,
        messages=[_message(event) for event in newest],
        message=None if total else nothing,
    )


def _message(event: dict[str, Any]) -> TranscriptMessage:
    message = event["message"]
    content = message["content"]
    is_text = isinstance(content, str)
    time = event.get("timestamp")
    return TranscriptMessage(
        type=event["type"],
        timestamp=time if isinstance(time, str) else None,
        content=content[:_TEXT] if is_text else None,
        blocks=None if is_text else [_block(block) for block in content],
        model=message.get("model"),
    )


def _block(block: dict[str, Any]) -> TranscriptBlock:
    match kind := block["type"]:
        case "text" | "thinking":
            return TranscriptBlock(type=kind, text=block[kind][:_TEXT])
        case "tool_use":
            given = json.dumps(block["input"], ensure_ascii=False)[:_TEXT]
            return TranscriptBlock(type=kind, name=block["name"], input=given, tool_use_id=block["id"])
        case "tool_result":
            text = result_text(block["content"])[:_TEXT]
            return TranscriptBlock(type=kind, text=text, tool_use_id=block["tool_use_id"])
    return TranscriptBlock(type=kind)
