"""The end of a turn: its last message, with what the session has used."""

import time
import uuid
from typing import Any

from .channel import Message
from .model import Refused
from .tools import Unplayed

_DOLLARS = {
    "input_tokens": 4e-6,
    "output_tokens": 20e-6,
    "cache_read_input_tokens": 0.4e-6,
    "cache_creation_input_tokens": 5e-6,
}
"""Prices of the default model for a token."""

_ERRORS = {401: "authentication_failed", 403: "authentication_failed", 429: "rate_limit"}
_SERVER_ERROR = 500


class Usage:
    """Tokens of a turn and of the session."""

    def __init__(self, model: str) -> None:
        self._model = model
        self._turn = dict.fromkeys(_DOLLARS, 0)
        self._session = dict.fromkeys(_DOLLARS, 0)
        self._dollars = 0.0
        self._began = 0.0

    def begin(self) -> None:
        """Begin a turn."""
        self._turn = dict.fromkeys(_DOLLARS, 0)
        self._began = time.monotonic()

    def add(self, used: Message) -> None:
        """Count what the model says that it took."""
        for name, price in _DOLLARS.items():
            tokens = used.get(name, 0)
            self._turn[name] += tokens
            self._session[name] += tokens
            self._dollars += tokens * price

    def totals(self) -> Message:
        """The fields of a result."""
        milliseconds = round((time.monotonic() - self._began) * 1000)
        used = {"costUSD": self._dollars, "inputTokens": self._session["input_tokens"]}
        return {
            "duration_ms": milliseconds,
            "duration_api_ms": milliseconds,
            "total_cost_usd": self._dollars,
            "usage": self._turn,
            "modelUsage": {self._model: used},
            "permission_denials": [],
        }


def success(text: str, turns: int, **fields: Any) -> Message:
    """The result of a turn that was answered."""
    return {
        "type": "result",
        "subtype": "success",
        "is_error": False,
        "num_turns": turns,
        "stop_reason": "end_turn",
        "terminal_reason": "completed",
        "result": text,
        **fields,
    }


def interrupted(reason: str, turns: int) -> Message:
    """The result of a turn that was stopped."""
    return {
        "type": "result",
        "subtype": "error_during_execution",
        "is_error": True,
        "num_turns": turns + 1,
        "stop_reason": None,
        "terminal_reason": reason,
        "errors": ["[ede_diagnostic] result_type=user last_content_type=n/a stop_reason=null"],
    }


def refusal(refused: Refused) -> tuple[Message, str]:
    """The message that stands for a refused request, and the kind of the error; error: Unplayed."""
    if refused.status >= _SERVER_ERROR:
        raise Unplayed(f"a model that answers {refused.status}")
    message = {
        "id": str(uuid.uuid4()),
        "type": "message",
        "role": "assistant",
        "model": "<synthetic>",
        "content": [{"type": "text", "text": f"API Error: {refused.status} {refused.message}"}],
        "stop_reason": "stop_sequence",
        "usage": dict.fromkeys(_DOLLARS, 0),
    }
    return message, _ERRORS.get(refused.status, "unknown")
