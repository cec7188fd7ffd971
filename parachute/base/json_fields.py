"""Reading the fields of a JSON object that another process sent."""

from collections.abc import Mapping
from typing import Any

from parachute.base.errors import InvalidInput

_LONGEST = 100_000


def text_field(document: Mapping[str, Any], name: str) -> str:
    """Return a text that is there and not empty; error: InvalidInput."""
    value = document.get(name)
    if not isinstance(value, str) or not 0 < len(value) <= _LONGEST:
        raise InvalidInput(f"{name}: text of 1 to {_LONGEST:,} characters is expected.", key="text_missing")
    return value


def object_field(document: Mapping[str, Any], name: str) -> dict[str, Any]:
    """Return an object, empty if there is none; error: InvalidInput."""
    value = document.get(name)
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise InvalidInput(f"{name}: an object is expected.", key="object_missing")
    return value
