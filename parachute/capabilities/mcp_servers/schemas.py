"""Schemas of tools: one that the model's service would refuse ends every conversation that has the tool.

It takes JSON Schema of draft 2020-12. What others mean by older drafts, and by habits of their languages, is plain in most cases.
"""

import copy
import re
from typing import Any

from parachute.base.errors import InvalidInput

_MAPPINGS = ("properties", "patternProperties", "definitions", "$defs", "dependentSchemas")
_COMBINATIONS = ("anyOf", "oneOf")
_TYPES = frozenset({"array", "boolean", "integer", "null", "number", "object", "string"})
_MOST_PARTS = 256
"""Parts of a list of other things than texts: what checks schemas compares each of them with each other one."""

_OTHER_TYPES = {"bool": "boolean", "dict": "object", "double": "number", "float": "number", "int": "integer"}
_OTHER_TYPES |= {"list": "array", "str": "string"}
_OF_OTHER_LANGUAGES = re.compile(r"\\[pP]\{\^?[A-Za-z_=]+\}|\\u\{[0-9a-fA-F]+\}|\(\?<(?=[A-Za-z_]\w*>)")
"""Parts of patterns of JavaScript that Python has in another way."""


def mended(schema: Any) -> dict[str, Any]:
    """A copy of a tool's schema as draft 2020-12 writes it; error: InvalidInput with the reason if it cannot be one. Takes time."""
    if not isinstance(schema, dict | None):
        raise InvalidInput("its schema is no object", key="tool_schema_invalid")
    try:
        _check_lists(schema)
        found = copy.deepcopy(schema) or {}
        # Another draft than the service's; what is below is brought to that one.
        found.pop("$schema", None)
        _mend(found)
        _mend_root(found)
        _check(found)
    except InvalidInput:
        raise
    except Exception as error:
        # Libraries read here what anybody may have written, and no list of what they raise is complete.
        raise InvalidInput("its schema cannot be read", key="tool_schema_invalid") from error
    return found


def _check_lists(value: Any) -> None:
    if isinstance(value, list) and len(value) > _MOST_PARTS and {*map(type, value)} not in ({str}, {int}, {float}):
        raise InvalidInput(f"a list in its schema has more than {_MOST_PARTS} parts", key="tool_schema_invalid")
    for inside in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        _check_lists(inside)


def _mend_root(schema: dict[str, Any]) -> None:
    if isinstance(kinds := schema.get("type"), list) and "object" in kinds:
        schema["type"] = "object"
    if "type" not in schema and not any(name in schema for name in ("$ref", "allOf", *_COMBINATIONS)):
        schema["type"] = "object"
    for name in _COMBINATIONS:
        # Which fields go together the server checks itself; the service takes no choice at the top.
        if name in schema and schema.get("type") == "object" and all(map(_is_about_presence, schema[name])):
            del schema[name]


def _is_about_presence(choice: Any) -> bool:
    return isinstance(choice, dict) and "required" in choice and choice.keys() <= {"required", "type"}


def _mend(schema: dict[str, Any]) -> None:
    """Mend a schema and those inside of it, in their place."""
    from referencing.jsonschema import DRAFT202012

    for name, value in list(schema.items()):
        # Programs write what they leave out as null, and an empty object of PHP is a list.
        if value is None and name not in ("const", "default"):
            del schema[name]
        elif value == [] and name in _MAPPINGS:
            schema[name] = {}
    if "type" in schema:
        _mend_type(schema)
    for limit, exclusive in (("minimum", "exclusiveMinimum"), ("maximum", "exclusiveMaximum")):
        if isinstance(is_exclusive := schema.get(exclusive), bool):
            del schema[exclusive]
            if is_exclusive and limit in schema:
                schema[exclusive] = schema.pop(limit)
    if isinstance(items := schema.get("items"), list):
        del schema["items"]
        if items:
            schema["prefixItems"] = items
        if (others := schema.pop("additionalItems", None)) is not None:
            schema["items"] = others
    _mend_required(schema)
    if (pattern := schema.get("pattern")) is not None and not _is_pattern(pattern):
        if not _is_pattern(_OF_OTHER_LANGUAGES.sub(lambda part: "(?:" if part[0].startswith("(") else ".", pattern)):
            raise InvalidInput(f"the pattern {pattern[:80]!r} in its schema is none", key="tool_schema_invalid")
        del schema["pattern"]  # the server goes on to check it
    for inside in DRAFT202012.subresources_of(schema):
        if isinstance(inside, dict):
            _mend(inside)


def _mend_type(schema: dict[str, Any]) -> None:
    kinds = schema["type"]
    if isinstance(kinds, str):
        lower = kinds.lower()
        if lower == "any":
            del schema["type"]
        elif (known := _OTHER_TYPES.get(lower, lower)) in _TYPES:
            schema["type"] = known


def _mend_required(schema: dict[str, Any]) -> None:
    """Write `required: true` of a field, as draft 3 has it, into the list of the object that has the field."""
    if isinstance(schema.get("required"), bool):
        del schema["required"]
    fields = schema.get("properties")
    required = []
    for name, inside in fields.items() if isinstance(fields, dict) else ():
        if isinstance(inside, dict) and isinstance(inside.get("required"), bool) and inside.pop("required"):
            required.append(name)
    if required:
        schema["required"] = list(dict.fromkeys([*schema.get("required", []), *required]))


def _is_pattern(pattern: str) -> bool:
    try:
        re.compile(pattern)
    except (OverflowError, RecursionError, re.error):
        return False
    return True


def _check(schema: dict[str, Any]) -> None:
    # Not at the top, for the server's start.
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import best_match

    validator = Draft202012Validator(
        Draft202012Validator.META_SCHEMA, format_checker=Draft202012Validator.FORMAT_CHECKER
    )
    if (error := best_match(validator.iter_errors(schema))) is not None:
        place = ".".join(map(str, error.absolute_path)) or "schema"
        raise InvalidInput(f"its schema is none: {place} cannot be {error.instance!r:.80}", key="tool_schema_invalid")
