"""The body of a request to the Messages API, validated."""

import json
from typing import Any

from msgspec import Struct

from parachute.base.errors import InvalidInput

_ROLES = ("user", "assistant", "system")


class MessagesRequest(Struct, frozen=True):
    """The fields that matter here; `messages` have a known role and a text or a list of objects as content."""

    model: str
    messages: list[dict[str, Any]]
    max_tokens: int | None
    stream: bool


def parse_request(body: bytes) -> MessagesRequest:
    """Check a body; error: InvalidInput naming the field and what is allowed."""
    try:
        document = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise InvalidInput("The body is not valid JSON.", key="not_json") from error
    if not isinstance(document, dict):
        raise InvalidInput("The body must be a JSON object.", key="not_an_object")
    model = document.get("model")
    if not isinstance(model, str) or not 0 < len(model) <= 256:
        raise InvalidInput("model: must be a text of 1 to 256 characters.", key="invalid_model")
    max_tokens = document.get("max_tokens")
    if max_tokens is not None and (not isinstance(max_tokens, int) or isinstance(max_tokens, bool) or max_tokens < 1):
        raise InvalidInput("max_tokens: must be a whole number, 1 or more.", key="max_tokens_invalid")
    stream = document.get("stream", False)
    if not isinstance(stream, bool):
        raise InvalidInput("stream: must be true or false.", key="stream_invalid")
    messages = document.get("messages")
    if not isinstance(messages, list) or not messages:
        raise InvalidInput("messages: must be a list of at least one message.", key="messages_missing")
    for index, message in enumerate(messages):
        _check_message(f"messages.{index}", message)
    return MessagesRequest(model, messages, max_tokens, stream)


def _check_message(where: str, message: object) -> None:
    if not isinstance(message, dict):
        raise InvalidInput(f"{where}: must be an object with role and content.", key="message_invalid")
    if message.get("role") not in _ROLES:
        raise InvalidInput(f"{where}.role: must be user, assistant or system.", key="role_invalid")
    content = message.get("content")
    if isinstance(content, str):
        return
    if not isinstance(content, list):
        raise InvalidInput(f"{where}.content: must be a text or a list of content blocks.", key="content_invalid")
    for index, block in enumerate(content):
        if not isinstance(block, dict) or not isinstance(block.get("type"), str):
            raise InvalidInput(f"{where}.content.{index}: must be an object with a type.", key="block_invalid")
        if block["type"] == "text" and not isinstance(block.get("text"), str):
            raise InvalidInput(f"{where}.content.{index}.text: must be a text.", key="text_missing")
