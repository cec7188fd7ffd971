"""The body of an agent's request: read within a budget, and written anew."""

import asyncio
import json
from typing import Any

from starlette.types import Receive

from parachute.base.budget import VALUES_OF_AGENT, Budget, has_few_values
from parachute.llm.gateway.endpoint import ModelEndpoint
from parachute.llm.gateway.exchange import Refused

_BODY_LIMIT = 32 * 1024 * 1024  # Anthropic's own limit of a request
_LARGE = 256 * 1024  # bytes of JSON that take about a millisecond: more goes to a thread


class Held:
    """The bytes that are kept of one request."""

    def __init__(self, budget: Budget, endpoint: ModelEndpoint) -> None:
        self._budget = budget
        self._peer = endpoint.token
        self._size = 0

    def add(self, size: int) -> None:
        """Keep so many more; error: Refused."""
        if not self._budget.hold(self._peer, size):
            message = "Too many large requests to the model are on their way at once."
            raise Refused(529, "overloaded_error", message, "service_unavailable")
        self._size += size

    def release(self) -> None:
        """Keep nothing any more."""
        self._budget.release(self._peer, self._size)
        self._size = 0


async def read_body(receive: Receive, held: Held) -> bytearray:
    """Read a whole body; error: Refused."""
    parts = bytearray()
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise Refused(400, "invalid_request_error", "The request was not complete.")
        part = message.get("body", b"")
        if len(parts) + len(part) > _BODY_LIMIT:
            raise Refused(413, "request_too_large", f"A request may have {_BODY_LIMIT:,} bytes.", "context_exceeded")
        held.add(len(part))
        parts += part
        if not message.get("more_body"):
            return parts


async def parsed(raw: bytes | bytearray) -> tuple[dict[str, Any], str]:
    """Return a body and the model that it names; error: Refused."""
    try:
        body = _read(raw) if len(raw) < _LARGE else await asyncio.to_thread(_read, raw)
        if not isinstance(body, dict) or not isinstance(model := body.get("model"), str):
            raise ValueError("expected an object with `model`")
    except (ValueError, RecursionError) as error:
        raise Refused(400, "invalid_request_error", f"The request cannot be read: {error}.") from error
    return body, model


def _read(raw: bytes | bytearray) -> Any:
    if not has_few_values(raw, VALUES_OF_AGENT):
        raise ValueError(f"it has more than {VALUES_OF_AGENT:,} values")
    return json.loads(raw)


async def written(body: dict[str, Any], size: int) -> bytes:
    """Return a body of about `size` bytes as JSON; error: Refused."""
    try:
        text = json.dumps(body) if size < _LARGE else await asyncio.to_thread(json.dumps, body)
    except RecursionError as error:
        raise Refused(400, "invalid_request_error", f"The request cannot be read: {error}.") from error
    return text.encode()


def output_tokens(body: dict[str, Any]) -> int:
    """The most tokens that an answer may have; 0 if the body names no number."""
    tokens = body.get("max_tokens")
    return tokens if isinstance(tokens, int) and tokens > 0 else 0
