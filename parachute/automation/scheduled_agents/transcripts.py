"""The transcript of an agent's run in the app's form (contract, section 9)."""

import json
from collections import deque
from collections.abc import Iterable
from typing import Any

from parachute.chat.sessions.messages import result_text

_TEXT = 20_000
"""Characters of one part of a message."""


def transcript_of(session: str | None, events: Iterable[dict[str, Any]], limit: int) -> dict[str, Any]:
    """The newest messages of a session, oldest first; `totalMessages` counts all of them."""
    newest: deque[dict[str, Any]] = deque(maxlen=limit)
    total = 0
    for event in events:
        if event["type"] in ("user", "assistant") and "message" in event:
            total += 1
            newest.append(event)
    answer: dict[str, Any] = {
        "hasTranscript": total > 0,
        "sessionId": session,
        "totalMessages": total,
        "messages": [_message(event) for event in newest],
    }
    if not total:
        answer["message"] = "There is no conversation of this agent." if session is None else "Nothing was said in it."
    return answer


def _message(event: dict[str, Any]) -> dict[str, Any]:
    message = event["message"]
    content = message["content"]
    is_text = isinstance(content, str)
    time = event.get("timestamp")
    return {
        "type": event["type"],
        "timestamp": time if isinstance(time, str) else None,
        "content": content[:_TEXT] if is_text else None,
        "blocks": None if is_text else [_block(block) for block in content],
        "model": message.get("model"),
    }


def _block(block: dict[str, Any]) -> dict[str, Any]:
    shown: dict[str, Any] = {"type": block["type"], "text": None, "name": None, "input": None, "tool_use_id": None}
    match block["type"]:
        case "text" | "thinking":
            shown["text"] = block[block["type"]][:_TEXT]
        case "tool_use":
            given = json.dumps(block["input"], ensure_ascii=False)
            shown |= {"name": block["name"], "input": given[:_TEXT], "tool_use_id": block["id"]}
        case "tool_result":
            shown |= {"text": result_text(block["content"])[:_TEXT], "tool_use_id": block["tool_use_id"]}
    return shown
