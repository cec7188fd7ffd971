"""Reading the usage out of an answer while it streams through."""

import json
from typing import Any

from parachute.gateway.models import Usage

_LINE_LIMIT = 1024 * 1024
_ANSWER_LIMIT = 32 * 1024 * 1024
_COUNT_LIMIT = 10**12


class UsageReader:
    """Fed with the bytes of an answer, streamed or not, in any pieces; `usage` holds what was seen so far."""

    def __init__(self, streaming: bool) -> None:
        self.usage = Usage(requests=1)
        self._streaming = streaming
        self._rest = b""
        self._answer = bytearray()

    def feed(self, data: bytes) -> None:
        """Look at the next piece."""
        if not self._streaming:
            if len(self._answer) <= _ANSWER_LIMIT:
                self._answer += data
            return
        *lines, rest = (self._rest + data).split(b"\n")
        # A line longer than this is text; usage lines are short.
        self._rest = rest if len(rest) <= _LINE_LIMIT else b""
        for line in lines:
            if line.startswith(b"data:") and b'"usage"' in line:
                self._take(line[5:])

    def finish(self) -> None:
        """The answer is complete."""
        if not self._streaming:
            self._take(self._answer)

    def _take(self, text: bytes | bytearray) -> None:
        try:
            value: Any = json.loads(text)
        except (ValueError, RecursionError):
            return
        if not isinstance(value, dict):
            return
        message = value.get("message")
        counts = message.get("usage") if isinstance(message, dict) else value.get("usage")
        if not isinstance(counts, dict):
            return
        # message_delta repeats and completes the counts of message_start: the later number stands.
        for name, field in (
            ("input_tokens", "input_tokens"),
            ("output_tokens", "output_tokens"),
            ("cache_read_tokens", "cache_read_input_tokens"),
            ("cache_write_tokens", "cache_creation_input_tokens"),
        ):
            number = counts.get(field)
            if isinstance(number, int) and 0 <= number < _COUNT_LIMIT:
                setattr(self.usage, name, number)
