"""Replies of the fake Messages API: the parts of a reply, their builders, and their wire shape."""

import json
import math
import uuid
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from .gate import Gate

MEBIBYTE = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Text:
    """A text block, streamed in `chunks` pieces with `delay` seconds before each."""

    text: str
    chunks: int = 1
    delay: float = 0.0


@dataclass(frozen=True, slots=True)
class Thinking:
    """A thinking block with the signature that the client has to send back unchanged."""

    text: str
    signature: str = "c2lnbmF0dXJl"


@dataclass(frozen=True, slots=True)
class ToolUse:
    """A call of a tool of the client."""

    name: str
    input: Mapping[str, Any]
    id: str


@dataclass(frozen=True, slots=True)
class Pause:
    """Silence on the open stream: until `gate` opens, or for `seconds`, or until the client goes away."""

    gate: Gate | None = None
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class StreamError:
    """An `error` event in the middle of a stream that began with status 200; nothing follows it."""

    type: str
    message: str


Part = Text | Thinking | ToolUse | Pause | StreamError


@dataclass(frozen=True, slots=True)
class Reply:
    """A message of the model, as a sequence of parts.

    `drop_after` counts server-sent events; then the connection is reset. Token counts that are None are estimated
    from the sizes. `stop_reason` None means `tool_use` when a tool is called and `end_turn` otherwise.
    """

    parts: tuple[Part, ...]
    stop_reason: str | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    cache_creation_input_tokens: int = 0
    cache_read_input_tokens: int = 0
    drop_after: int | None = None
    headers: Mapping[str, str] = field(default_factory=dict)

    def using(self, **changes: Any) -> "Reply":
        """Copy the reply with other token counts, stop reason or headers."""
        return replace(self, **changes)

    def final_stop_reason(self) -> str:
        """Say why the model stopped."""
        calls_a_tool = any(isinstance(part, ToolUse) for part in self.parts)
        return self.stop_reason or ("tool_use" if calls_a_tool else "end_turn")

    def usage(self, body: Mapping[str, Any]) -> dict[str, Any]:
        """Count the tokens of the request `body` and of this reply, four characters to a token where not given."""
        written = sum(len(part.text) for part in self.parts if isinstance(part, (Text, Thinking)))
        return {
            "input_tokens": estimate_tokens(body) if self.input_tokens is None else self.input_tokens,
            "cache_creation_input_tokens": self.cache_creation_input_tokens,
            "cache_read_input_tokens": self.cache_read_input_tokens,
            "output_tokens": max(1, written // 4) if self.output_tokens is None else self.output_tokens,
            "service_tier": "standard",
        }


@dataclass(frozen=True, slots=True)
class ErrorReply:
    """A refusal with an HTTP status, before any stream begins."""

    status: int
    type: str
    message: str
    headers: Mapping[str, str] = field(default_factory=dict)

    def body(self, request_id: str) -> dict[str, Any]:
        """Render the JSON that Anthropic sends with an error."""
        return {
            "type": "error",
            "error": {"type": self.type, "message": self.message},
            "request_id": request_id,
        }


AnyReply = Reply | ErrorReply
Scripted = AnyReply | Callable[[dict[str, Any]], AnyReply]


def estimate_tokens(body: Mapping[str, Any]) -> int:
    """Estimate the input tokens of a request from the size of what the model would read."""
    read = {key: body.get(key) for key in ("system", "tools", "messages")}
    return max(1, len(json.dumps(read, default=str)) // 4)


def text(content: str, chunks: int = 1, delay: float = 0.0) -> Reply:
    """Answer with one text block."""
    return Reply((Text(content, chunks, delay),))


def big_text(size: int = 8 * MEBIBYTE) -> Reply:
    """Answer with one text block of `size` characters in a single event."""
    return text("0123456789abcdef" * (size // 16) + "x" * (size % 16))


def thinking(content: str, then: Reply | None = None) -> Reply:
    """Answer with a thinking block, followed by the parts of `then`."""
    return Reply((Thinking(content), *(then.parts if then else ())))


def tool_use(name: str, arguments: Mapping[str, Any], identifier: str | None = None) -> Reply:
    """Answer with a call of the client's tool `name`; a random id is made unless one is given."""
    return Reply((ToolUse(name, dict(arguments), identifier or f"toolu_{uuid.uuid4().hex[:24]}"),))


def hold(gate: Gate, then: Reply | None = None) -> Reply:
    """Begin the stream, say nothing until `gate` opens or the client goes away, then send `then`."""
    return Reply((Pause(gate=gate), *(then.parts if then else ())))


def several(*replies: Reply) -> Reply:
    """Put the parts of several replies into one message."""
    return Reply(tuple(part for reply in replies for part in reply.parts))


def drop_after(events: int, reply: Reply | None = None) -> Reply:
    """Reset the connection after that many server-sent events of `reply`."""
    base = reply or text("This sentence is cut before it ends.", chunks=8)
    return replace(base, drop_after=events)


def stream_error(error_type: str, message: str, after: Reply | None = None) -> Reply:
    """Begin a stream, send the parts of `after`, then an `error` event."""
    return Reply((*(after.parts if after else ()), StreamError(error_type, message)))


def error(status: int, error_type: str, message: str, headers: Mapping[str, str] | None = None) -> ErrorReply:
    """Refuse with an HTTP status, such as 429, `rate_limit_error` and a `retry-after` header."""
    return ErrorReply(status, error_type, message, dict(headers or {}))


def message_of(reply: Reply, body: Mapping[str, Any]) -> dict[str, Any]:
    """Render the whole message, as it is sent when the request did not ask for a stream."""
    content: list[dict[str, Any]] = []
    for part in reply.parts:
        match part:
            case Text():
                content.append({"type": "text", "text": part.text})
            case Thinking():
                content.append({"type": "thinking", "thinking": part.text, "signature": part.signature})
            case ToolUse():
                content.append({"type": "tool_use", "id": part.id, "name": part.name, "input": dict(part.input)})
            case Pause() | StreamError():
                continue
    return {**_envelope(reply, body), "content": content, "stop_reason": reply.final_stop_reason()}


def events_of(reply: Reply, body: Mapping[str, Any]) -> Iterator[dict[str, Any] | Pause]:
    """Yield the events of a streamed reply in order, with the pauses between them."""
    usage = reply.usage(body)
    start = {**_envelope(reply, body), "usage": {**usage, "output_tokens": 1}}
    yield {"type": "message_start", "message": start}
    yield {"type": "ping"}
    index = 0
    for part in reply.parts:
        if isinstance(part, Pause):
            yield part
            continue
        if isinstance(part, StreamError):
            yield {"type": "error", "error": {"type": part.type, "message": part.message}}
            return
        opening, deltas, delay = _block(part)
        yield {"type": "content_block_start", "index": index, "content_block": opening}
        for delta in deltas:
            if delay:
                yield Pause(seconds=delay)
            yield {"type": "content_block_delta", "index": index, "delta": delta}
        yield {"type": "content_block_stop", "index": index}
        index += 1
    stop = {"stop_reason": reply.final_stop_reason(), "stop_sequence": None}
    yield {"type": "message_delta", "delta": stop, "usage": usage}
    yield {"type": "message_stop"}


def _envelope(reply: Reply, body: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "id": f"msg_{uuid.uuid4().hex[:24]}",
        "type": "message",
        "role": "assistant",
        "model": body.get("model", "unknown"),
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": reply.usage(body),
    }


def _block(part: Text | Thinking | ToolUse) -> tuple[dict[str, Any], list[dict[str, Any]], float]:
    match part:
        case Text():
            pieces = [{"type": "text_delta", "text": piece} for piece in _pieces(part.text, part.chunks)]
            return {"type": "text", "text": ""}, pieces, part.delay
        case Thinking():
            pieces = [{"type": "thinking_delta", "thinking": part.text}]
            pieces.append({"type": "signature_delta", "signature": part.signature})
            return {"type": "thinking", "thinking": "", "signature": ""}, pieces, 0.0
        case ToolUse():
            # The real service opens every tool call with an empty delta.
            written = ["", *_pieces(json.dumps(part.input), 2)]
            pieces = [{"type": "input_json_delta", "partial_json": piece} for piece in written]
            return {"type": "tool_use", "id": part.id, "name": part.name, "input": {}}, pieces, 0.0


def _pieces(content: str, count: int) -> list[str]:
    size = max(1, math.ceil(len(content) / max(1, count)))
    return [content[begin : begin + size] for begin in range(0, len(content), size)]
