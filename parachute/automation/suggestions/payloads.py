"""Payloads of suggestions: what may be one at all, what a module accepts, and what it would replace."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from parachute.base.errors import InvalidInput
from parachute.modules.runtime.models import AcceptedChange

PAYLOAD_LIMIT = 64 * 1024
"""Bytes of a payload as JSON."""

_DEPTH = 32
_SHOWN = 8_000
"""Characters of a text that would be replaced."""

# Nobody sees them, or they turn the direction of what follows: what is shown would be another change than what is applied.
_UNSEEN = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
_TYPES: Mapping[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "object": (dict,),
    "array": (list,),
    "null": (type(None),),
}


def payload_text(payload: object) -> str:
    """A payload as JSON; error: InvalidInput for what is none, too long or too deep, or has characters that nobody sees."""
    if not isinstance(payload, dict):
        raise InvalidInput("payload: an object is expected.", key="payload_not_an_object")
    try:
        if _is_deep(payload, _DEPTH):
            raise InvalidInput(f"payload: at most {_DEPTH} levels are allowed.", key="payload_too_deep")
        text = json_of(payload)
        size = len(text.encode())
    except (TypeError, ValueError) as error:
        raise InvalidInput(
            f"payload: it cannot be written as JSON ({type(error).__name__}).", key="payload_not_json"
        ) from error
    if size > PAYLOAD_LIMIT:
        raise InvalidInput(
            f"payload: {size:,} bytes are more than the {PAYLOAD_LIMIT:,} allowed.", key="payload_too_large"
        )
    for each in _texts(payload):
        check_seen(each, "payload")
    return text


def json_of(payload: Mapping[str, Any]) -> str:
    """A payload as the JSON by which two are the same; errors: TypeError, ValueError."""
    return json.dumps(payload, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def check_seen(text: str, field: str) -> None:
    """Error: InvalidInput for a text with control characters, or with some that turn the direction of others."""
    if found := _UNSEEN.search(text):
        raise InvalidInput(f"{field}: the character U+{ord(found[0]):04X} is not allowed.", key="unseen_character")


def without_unseen(text: str) -> str:
    """The text without those characters."""
    return _UNSEEN.sub("", text)


def check_accepted(accepted: Sequence[AcceptedChange], action: str, payload: Mapping[str, Any]) -> None:
    """See that a payload has one of the forms that its module accepts; error: InvalidInput naming the field.

    Only forms are compared: the module checks what a payload means.
    """
    forms = {change.action: change.schema for change in accepted}
    if action not in forms:
        raise InvalidInput(f"action: {accepted[0].module} takes {', '.join(forms)} only.", key="not_accepted")
    try:
        problem = _problem(payload, forms[action], "payload")
    except (AttributeError, TypeError, RecursionError) as error:
        raise InvalidInput(
            f"payload: what {accepted[0].module} accepts is described wrongly.", key="accepts_invalid"
        ) from error
    if problem:
        raise InvalidInput(problem, key="not_accepted")


def replaced(item: object, payload: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a thing that a payload would replace, as they are; long texts are cut."""
    found: dict[str, Any] = {}
    for name, value in payload.items():
        if not isinstance(item, Mapping):
            break
        if name in item:
            now = item[name]
            if now != value:
                found[name] = f"{now[:_SHOWN]}…" if isinstance(now, str) and len(now) > _SHOWN else now
        elif isinstance(value, dict) and (inner := replaced(item, value)):
            # Fields in an object of their own that the thing itself has at its top, such as those of an entity.
            found[name] = inner
    return found


def _problem(value: Any, schema: Mapping[str, Any], field: str) -> str | None:
    """The first thing that is wrong with a value, by the words of JSON Schema with which our library describes types."""
    if choices := schema.get("anyOf"):
        problems = [_problem(value, choice, field) for choice in choices]
        return None if None in problems else problems[0]
    if "enum" in schema and value not in schema["enum"]:
        return f"{field}: one of {', '.join(map(str, schema['enum']))} is expected."
    kind = schema.get("type", "")
    classes = _TYPES.get(kind, (object,))
    if not isinstance(value, classes) or (isinstance(value, bool) and int in classes):
        return f"{field}: {kind} is expected."
    if isinstance(value, dict):
        return _problem_of_object(value, schema, field)
    if isinstance(value, list) and isinstance(items := schema.get("items"), dict):
        return next(filter(None, (_problem(each, items, f"{field}[{i}]") for i, each in enumerate(value))), None)
    return None


def _problem_of_object(value: dict[str, Any], schema: Mapping[str, Any], field: str) -> str | None:
    known, others = schema.get("properties", {}), schema.get("additionalProperties", True)
    for name in schema.get("required", ()):
        if name not in value:
            return f"{field}.{name}: this is required."
    for name, each in value.items():
        form = known.get(name, others)
        if form is False:
            return f"{field}.{name[:40]}: unknown field; allowed are {', '.join(known) or 'none'}."
        if isinstance(form, dict) and (problem := _problem(each, form, f"{field}.{name[:40]}")):
            return problem
    return None


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for name, each in value.items():
            yield name
            yield from _texts(each)
    elif isinstance(value, list):
        for each in value:
            yield from _texts(each)


def _is_deep(value: object, levels: int) -> bool:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return bool(inner) and (levels == 0 or any(_is_deep(each, levels - 1) for each in inner))
