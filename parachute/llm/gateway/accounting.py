"""The usage in an answer, and its end, read while it streams through."""

import json
from typing import Any

from parachute.llm.gateway.models import Usage
from parachute.llm.gateway.prices import BYTES_OF_TOKEN

_LINE_LIMIT = 1024 * 1024
_ANSWER_LIMIT = 32 * 1024 * 1024
_COUNT_LIMIT = 10**12
_OF_DELTAS = ("text", "partial_json", "thinking")


class UsageReader:
    """Fed with the bytes of an answer, streamed or not, in any pieces; `usage` holds what was seen so far.

    `is_cut` is true once an answer has ended at its longest. `expected` is what counts for an answer that broke off before it said anything.
    """

    def __init__(self, streaming: bool, expected: Usage | None = None) -> None:
        self.usage = Usage(requests=1)
        self.is_cut = False
        self._expected = expected
        self._streaming = streaming
        self._rest = b""
        self._answer = bytearray()
        self._is_counted = False
        self._characters = 0

    def feed(self, data: bytes) -> None:
        """Read the next piece."""
        if not self._streaming:
            if len(self._answer) <= _ANSWER_LIMIT:
                self._answer += data
            return
        *lines, rest = (self._rest + data).split(b"\n")
        # A line longer than this is text; usage lines are short.
        self._rest = rest if len(rest) <= _LINE_LIMIT else b""
        self._characters += len(rest) - len(self._rest)
        for line in lines:
            if line.startswith(b"data:"):
                if b'"usage"' in line:
                    self._take(line[5:])
                if b'"content_block_delta"' in line:
                    self._count(line[5:])

    def finish(self) -> None:
        """The answer is complete, or broken off: then what was streamed counts, since it is paid as well."""
        if not self._streaming:
            self._take(self._answer)
        if self._is_counted:
            return
        if self._streaming and (self.usage.input_tokens or self._characters):
            self.usage.output_tokens = max(self.usage.output_tokens, self._characters // BYTES_OF_TOKEN)
        elif self._expected is not None:
            self.usage = self._expected

    def _count(self, text: bytes) -> None:
        value = _parsed(text)
        delta = value.get("delta")
        if isinstance(delta, dict):
            self._characters += sum(len(part) for name in _OF_DELTAS if isinstance(part := delta.get(name), str))

    def _take(self, text: bytes | bytearray) -> None:
        value = _parsed(text)
        message = value.get("message")
        counts = message.get("usage") if isinstance(message, dict) else value.get("usage")
        if not isinstance(counts, dict):
            return
        ended = value.get("delta", value)
        self.is_cut = self.is_cut or (isinstance(ended, dict) and ended.get("stop_reason") == "max_tokens")
        self._is_counted = not isinstance(message, dict)
        # message_delta repeats and completes the counts of message_start: the later number stands.
        for name, field in (
            ("input_tokens", "input_tokens"),
            ("output_tokens", "output_tokens"),
            ("cache_read_tokens", "cache_read_input_tokens"),
            ("cache_write_tokens", "cache_creation_input_tokens"),
        ):
            self._set(name, counts.get(field))
        if isinstance(tools := counts.get("server_tool_use"), dict):
            self._set("searches", tools.get("web_search_requests"))

    def _set(self, name: str, number: object) -> None:
        if isinstance(number, int) and 0 <= number < _COUNT_LIMIT:
            setattr(self.usage, name, number)


def _parsed(text: bytes | bytearray) -> dict[str, Any]:
    try:
        value: Any = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}
