"""Structured results, checked with the schema that the tool itself names for them: both may be hostile.

No library checks them: it writes what it refuses into errors, many times as large as the result, and counts no steps.
"""

import json
from collections.abc import Mapping
from itertools import islice
from typing import Any
from urllib.parse import unquote

from parachute.chat.agent_processes.tools import TEXT_LIMIT

_STEPS = 100_000
"""Words of schemas and entries of values that are looked at for one result: a small schema can ask for endlessly many."""

_TYPES = {"array": list, "boolean": bool, "null": type(None), "object": dict, "string": str}


class _TooMuch(Exception):
    """A result whose check has taken too many steps."""


def problem_of_structured(value: Any, schema: Mapping[str, Any]) -> str | None:
    """The reason for which a result is not what its tool has promised, None for one that is; takes time."""
    try:
        if len(json.dumps(value, ensure_ascii=False)) > TEXT_LIMIT:
            return f"it has more than {TEXT_LIMIT:,} characters"
        fits = _Check(schema).fits(value, schema)
    except Exception:
        # Anybody may have written both, and no list of what is wrong with them is complete.
        return "it cannot be checked with the tool's own schema"
    return None if fits else "it is not what the tool's own schema promises"


class _Check:
    """A yes or no by those words of draft 2020-12 that are named below.

    All others count as kept. Patterns are not there: one may never come to an end, and nothing else runs meanwhile.
    """

    def __init__(self, root: Mapping[str, Any]) -> None:
        self._root = root
        self._left = _STEPS
        self._referred: dict[str, Any] = {}

    def fits(self, value: Any, schema: Any) -> bool:
        """Return whether a value is what a schema asks for; errors: _TooMuch, and any other for a schema that is none."""
        if isinstance(schema, bool):
            self._count(1)
            return schema
        self._count(1 + len(schema))
        return all(self._keeps(word, said, value, schema) for word, said in schema.items())

    def _keeps(self, word: str, said: Any, value: Any, schema: Mapping[str, Any]) -> bool:
        match word:
            case "$ref":
                return self.fits(value, self._target(said))
            case "allOf":
                return all(self.fits(value, each) for each in said)
            case "anyOf":
                return any(self.fits(value, each) for each in said)
            case "oneOf":
                return sum(self.fits(value, each) for each in said) == 1
            case "not":
                return not self.fits(value, said)
            case "const":
                return self._same(value, said)
            case "enum":
                return any(self._same(value, each) for each in said)
            case "type":
                kinds = [said] if isinstance(said, str) else said
                self._count(len(kinds))
                return any(_is(value, kind) for kind in kinds)
        if isinstance(value, dict):
            return self._keeps_object(word, said, value, schema)
        if isinstance(value, list):
            return self._keeps_list(word, said, value, schema)
        return _keeps_plain(word, said, value)

    def _keeps_object(self, word: str, said: Any, value: dict[str, Any], schema: Mapping[str, Any]) -> bool:
        match word:
            case "required":
                self._count(len(said))
                return all(name in value for name in said)
            case "properties":
                self._count(len(said))
                return all(self.fits(value[name], inside) for name, inside in said.items() if name in value)
            case "additionalProperties" if "patternProperties" not in schema:
                self._count(len(value))
                known = schema.get("properties", {})
                return all(self.fits(inside, said) for name, inside in value.items() if name not in known)
        return True

    def _keeps_list(self, word: str, said: Any, value: list[Any], schema: Mapping[str, Any]) -> bool:
        match word:
            case "minItems":
                return bool(len(value) >= said)
            case "maxItems":
                return bool(len(value) <= said)
            case "prefixItems":
                return all(self.fits(*pair) for pair in zip(value, said, strict=False))
            case "items":
                before = len(schema.get("prefixItems", ()))
                self._count(min(before, len(value)))
                return all(self.fits(each, said) for each in islice(value, before, None))
        return True

    def _target(self, address: str) -> Any:
        if address not in self._referred:
            found: Any = self._root
            place, _, path = address.partition("#")
            if place or (path and not path.startswith("/")):
                raise ValueError("Only places within the schema itself are looked at.")
            self._count(len(address))
            for part in unquote(path).split("/")[1:]:
                name = part.replace("~1", "/").replace("~0", "~")
                found = found[int(name)] if isinstance(found, list) else found[name]
            self._referred[address] = found
        return self._referred[address]

    def _same(self, value: Any, said: Any) -> bool:
        """Compare as JSON does: true is not one, and a number is the same however it is written."""
        self._count(1 + (len(said) if isinstance(said, dict) else 0))
        if isinstance(value, dict) and isinstance(said, dict):
            return value.keys() == said.keys() and all(self._same(each, said[name]) for name, each in value.items())
        if isinstance(value, list) and isinstance(said, list):
            return len(value) == len(said) and all(map(self._same, value, said))
        return isinstance(value, bool) == isinstance(said, bool) and bool(value == said)

    def _count(self, steps: int) -> None:
        self._left -= steps
        if self._left < 0:
            raise _TooMuch


def _keeps_plain(word: str, said: Any, value: Any) -> bool:
    if isinstance(value, str):
        return not (word == "minLength" and len(value) < said) and not (word == "maxLength" and len(value) > said)
    if not _is(value, "number"):
        return True
    match word:
        case "minimum":
            return bool(value >= said)
        case "maximum":
            return bool(value <= said)
        case "exclusiveMinimum":
            return bool(value > said)
        case "exclusiveMaximum":
            return bool(value < said)
    return True


def _is(value: Any, kind: str) -> bool:
    if kind not in ("integer", "number"):
        return isinstance(value, _TYPES[kind])
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return is_number and (kind == "number" or isinstance(value, int) or value.is_integer())
