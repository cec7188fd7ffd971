"""The shapes of the Messages API: messages, events and errors."""

import json
import secrets
from collections.abc import Iterator
from typing import Any

from parachute.base.errors import ParachuteError
from parachute.llm.offline.llama import Usage

Document = dict[str, Any]

_ERROR_TYPES = {400: "invalid_request_error", 404: "not_found_error", 413: "request_too_large"}


def message_id() -> str:
    """A new id of a message."""
    return f"msg_{secrets.token_hex(12)}"


def usage_document(input_tokens: int, output_tokens: int) -> Document:
    """Token counts; nothing is billed, so nothing counts as cached."""
    return {
        "input_tokens": input_tokens,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": 0,
        "output_tokens": output_tokens,
    }


def message_document(identifier: str, model: str, text: str, usage: Usage) -> Document:
    """A whole answer. Stopping at our own cap is the end of the turn too: clients treat `max_tokens` as a failure."""
    return {
        "id": identifier,
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": [{"type": "text", "text": text}],
        "stop_reason": "end_turn",
        "stop_sequence": None,
        "usage": usage_document(usage.input_tokens, usage.output_tokens),
    }


def opening_events(identifier: str, model: str, input_tokens: int) -> Iterator[Document]:
    """The first events of a stream; `input_tokens` is 0 while the model loads, and the last usage has the right number."""
    yield {
        "type": "message_start",
        "message": {
            "id": identifier,
            "type": "message",
            "role": "assistant",
            "model": model,
            "content": [],
            "stop_reason": None,
            "stop_sequence": None,
            "usage": usage_document(input_tokens, 0),
        },
    }
    yield {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}
    yield PING


def text_event(text: str) -> Document:
    """One piece of the answer."""
    return {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": text}}


def closing_events(usage: Usage) -> Iterator[Document]:
    """The last events of a stream."""
    yield {"type": "content_block_stop", "index": 0}
    yield {
        "type": "message_delta",
        "delta": {"stop_reason": "end_turn", "stop_sequence": None},
        "usage": usage_document(usage.input_tokens, usage.output_tokens),
    }
    yield {"type": "message_stop"}


PING: Document = {"type": "ping"}


def error_status(error: ParachuteError) -> int:
    """The HTTP status that the Messages API has for an error."""
    return 400 if error.status == 422 else error.status


def error_document(error: ParachuteError) -> Document:
    """An error as a body, and as an event of a stream that has begun."""
    kind = error.key if error.key == "overloaded_error" else _ERROR_TYPES.get(error_status(error), "api_error")
    return {"type": "error", "error": {"type": kind, "message": str(error)}}


def encode(document: Document) -> bytes:
    """Compact JSON."""
    # Half a surrogate pair is valid in JSON and not in UTF-8; a model name may hold one.
    return json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")


def encode_event(document: Document) -> bytes:
    """One server-sent event, named by its type."""
    return b"event: %s\ndata: %s\n\n" % (document["type"].encode(), encode(document))
