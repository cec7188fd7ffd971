"""The body of a request of another process, as JSON."""

import json
from collections.abc import AsyncIterator
from typing import Any

from parachute.base.budget import has_few_values
from parachute.base.errors import InvalidInput


async def read_value(chunks: AsyncIterator[bytes], limit: int, values: int | None = None) -> Any:
    """The value of a body of at most so many bytes and values, None for an empty one; errors: InvalidInput, those of `chunks`."""
    data = bytearray()
    async for chunk in chunks:
        data += chunk
        if len(data) > limit:
            raise InvalidInput(f"The request is longer than {limit:,} bytes.", key="body_too_long")
    if values is not None and not has_few_values(data, values):
        raise InvalidInput(f"The request has more than {values:,} values.", key="too_many_values")
    return value_of(data)


def value_of(data: bytes | bytearray) -> Any:
    """The value of a body that was read; error: InvalidInput."""
    try:
        return json.loads(data or b"null")
    except (ValueError, RecursionError) as error:
        raise InvalidInput("The request is not JSON.", key="not_json") from error


def object_of(value: Any) -> dict[str, Any]:
    """The value if it is an object; error: InvalidInput."""
    if not isinstance(value, dict):
        raise InvalidInput("The request is not a JSON object.", key="not_an_object")
    return value
