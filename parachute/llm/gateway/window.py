"""The window of a model: how much text a server takes in one request, and how much a conversation begins with."""

import re
from typing import Any

NEEDED_TOKENS = 12_000
"""Tokens of the first request: about 7,700 without modules, 10,500 with Brain, Daily and Chat."""

TOO_SMALL = "window_too_small"
_ADVISED = 16_384
_TYPE = "exceed_context_size_error"
_SAID = re.compile(
    r"prompt is too long|exceeds? (?:the )?(?:available |maximum |model's )?context|maximum context length",
    re.IGNORECASE,
)
_SIZE = re.compile(r"context (?:size|length|window)\D{0,20}(\d[\d,]*)", re.IGNORECASE)
_FIELDS = ("n_ctx", "max_model_len", "context_length", "max_context_length", "max_input_tokens")


def is_exceeded(kind: str, message: str) -> bool:
    """Return True for the error of a server that a request has more text than the model takes."""
    return kind == _TYPE or bool(_SAID.search(message))


def size_in(error: Any, message: str) -> int | None:
    """The window that an error names, None if it does not."""
    if isinstance(error, dict) and (size := _size_of(error)) is not None:
        return size
    found = _SIZE.search(message)
    return int(found[1].replace(",", "")[:9]) if found else None


def problem_of(size: int) -> tuple[str, str] | None:
    """Return the sentence about a window that is too small for every conversation, and what to do; None if it is large enough."""
    if size >= NEEDED_TOKENS:
        return None
    return (
        f"The model takes {size:,} tokens, and every conversation begins with about {NEEDED_TOKENS:,}.",
        f"Start its server with a larger window: `-c {_ADVISED}` of llama.cpp, OLLAMA_CONTEXT_LENGTH={_ADVISED} of Ollama.",
    )


def said_in(found: Any) -> int | None:
    """Return the window in an entry of llama.cpp (`/props`), vLLM or LiteLLM (`/v1/models`), None if it does not say."""
    return _size_of(found) or _size_of(found.get("meta")) if isinstance(found, dict) else None


def _size_of(found: Any) -> int | None:
    values = (found.get(name) for name in _FIELDS) if isinstance(found, dict) else ()
    return next((value for value in values if isinstance(value, int) and 0 < value < 10**9), None)
