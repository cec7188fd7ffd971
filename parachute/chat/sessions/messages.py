"""Messages and texts in the events of a transcript."""

import json
from collections.abc import Iterable, Iterator
from itertools import takewhile
from typing import Any, Literal, NotRequired

from typing_extensions import TypedDict  # pydantic describes no other before Python 3.12

NEWEST = 500


class Text(TypedDict):
    """Text of a message."""

    type: Literal["text"]
    text: str


class Call(TypedDict):
    """A call of a tool, with its result once it is there."""

    type: Literal["tool_use"]
    id: str
    name: str
    input: dict[str, Any]
    result: NotRequired[str]
    isError: NotRequired[bool]


class Message(TypedDict):
    """A message as the app reads it; `said` is the text of the person, and `attachments` names the files that went with it."""

    id: str | None
    role: Literal["user", "assistant"]
    content: list[Text | Call]
    model: str | None
    timestamp: str | None
    isCompactSummary: bool
    said: NotRequired[str]
    attachments: NotRequired[list[str]]


def messages_of(events: Iterable[dict[str, Any]], limit: int = NEWEST) -> list[Message]:
    """The newest messages of a transcript in the app's short form, tool calls joined with their results."""
    found: list[Message] = []
    calls: dict[str, Call] = {}
    for event in events:
        if event.get("isMeta") is True:
            continue  # what the agent's program says to the model by itself
        if event["type"] not in ("user", "assistant") or "message" not in event:
            continue
        content = event["message"]["content"]
        kept: list[Text | Call] = []
        blocks: list[dict[str, Any]] = [{"type": "text", "text": content}] if isinstance(content, str) else content
        for block in blocks:
            if block["type"] == "text":
                kept.append({"type": "text", "text": block["text"]})
            elif block["type"] == "tool_use":
                call = Call(type="tool_use", id=block["id"], name=block["name"], input=block["input"])
                calls[block["id"]] = call
                kept.append(call)
            elif block["type"] == "tool_result" and (known := calls.get(block["tool_use_id"])):
                known["result"] = result_text(block["content"])
                known["isError"] = block.get("is_error") is True
        if kept:
            message = Message(
                id=event.get("uuid"),
                role=event["type"],
                content=kept,
                model=event["message"].get("model"),
                timestamp=time if isinstance(time := event.get("timestamp"), str) else None,
                isCompactSummary=event.get("isCompactSummary") is True,
            )
            if "said" in event:
                message["said"], message["attachments"] = event["said"], event["attachments"]
            found.append(message)
    return found[-limit:]


def shows(event: dict[str, Any]) -> bool:
    """Return True for an event that is a message in that form: one that only brings results of tools is not."""
    if event.get("isMeta") is True:
        return False
    if event["type"] not in ("user", "assistant") or "message" not in event:
        return False
    content = event["message"]["content"]
    return isinstance(content, str) or any(block["type"] in ("text", "tool_use") for block in content)


def has_tools(event: dict[str, Any]) -> bool:
    """Return True for an event with calls of tools or with their results."""
    content = event["message"]["content"] if "message" in event else None
    return isinstance(content, list) and any(block["type"] in ("tool_use", "tool_result") for block in content)


def until(events: Iterable[dict[str, Any]], end: str | None) -> Iterator[dict[str, Any]]:
    """The events before the message of an id; all of them without one."""
    return takewhile(lambda event: end is None or event.get("uuid") != end, events)


def user_text(event: dict[str, Any]) -> str | None:
    """The text of a message that a person wrote, or None."""
    return _text(event) if event["type"] == "user" and not event.get("isMeta") else None


def assistant_text(event: dict[str, Any]) -> str | None:
    """The text of an agent's message, or None."""
    return _text(event) if event["type"] == "assistant" else None


def result_text(content: Any) -> str:
    """The result of a tool as one text."""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "\n".join(
            str(block.get("text", "")) if block.get("type") == "text" else f"[{block.get('type')}]"
            for block in content
            if isinstance(block, dict)
        )
    return "" if content is None else json.dumps(content, ensure_ascii=False)


def _text(event: dict[str, Any]) -> str | None:
    content = event["message"]["content"] if "message" in event else None
    if isinstance(content, list):
        content = "\n".join(block["text"] for block in content if block["type"] == "text")
    return content or None
