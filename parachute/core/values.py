"""JSON and text to the types that a signature names, and back; also the JSON schema of such a type."""

import dataclasses
import datetime
import enum
import functools
import json
import math
import re
import types
from collections.abc import Mapping, Sequence
from pathlib import PurePath
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints, is_typeddict

from parachute.base.errors import InvalidInput
from parachute.base.integers import LARGEST
from parachute.core.errors import ModuleError

_INTEGER = re.compile(r"[+-]?[0-9]{1,16}")
_BOOLEANS = {"true": True, "1": True, "false": False, "0": False}
_LISTS: tuple[Any, ...] = (list, tuple, set, frozenset, Sequence)
_MAPPINGS: tuple[Any, ...] = (dict, Mapping)
_SIMPLE: dict[Any, tuple[str, dict[str, Any]]] = {
    str: ("text", {"type": "string"}),
    int: ("a whole number", {"type": "integer", "minimum": -LARGEST, "maximum": LARGEST}),
    float: ("a number", {"type": "number"}),
    bool: ("true or false", {"type": "boolean"}),
    datetime.datetime: ("a time such as 2024-01-15T10:30:00Z", {"type": "string", "format": "date-time"}),
    datetime.date: ("a date such as 2024-01-15", {"type": "string", "format": "date"}),
}


def convert(value: object, kind: Any, field: str, *, text: bool = False, strict: bool = True) -> Any:
    """`value` as the type `kind`; error: InvalidInput naming `field` and what is allowed.

    `text`: the value comes from a path or a query, where a number is written as text and a list as repeated parameters.
    `strict`: fields that a dataclass does not have are errors; otherwise they are dropped.
    """
    kind, origin, arguments = _parts(kind)
    if kind in (Any, object):
        return value
    if origin in (Union, types.UnionType):
        return _alternative(value, arguments, field, text, strict)
    if origin is Literal:
        for choice in arguments:
            if (type(value) is type(choice) and value == choice) or (text and value == str(choice)):
                return choice
    elif kind in _SIMPLE:
        converted = _simple(value, kind, text)
        if converted is not None:
            return converted
    elif kind is type(None):
        if value is None:
            return None
    elif isinstance(kind, type) and issubclass(kind, enum.Enum):
        for member in kind:
            if (type(value) is type(member.value) and value == member.value) or (text and value == str(member.value)):
                return member
    elif origin in _LISTS and isinstance(value, list):
        inner = arguments[0] if arguments else Any
        items = [convert(item, inner, f"{field}[{i}]", text=text, strict=strict) for i, item in enumerate(value)]
        return items if origin in (list, Sequence) else origin(items)
    elif origin in _MAPPINGS and isinstance(value, dict):
        inner = arguments[1] if arguments else Any
        return {name: convert(item, inner, f"{field}.{name}", strict=strict) for name, item in value.items()}
    elif dataclasses.is_dataclass(kind) and isinstance(value, dict):
        return _dataclass(value, kind, field, strict)
    raise InvalidInput(f"{field}: expected {describe(kind)}, not {_shown(value)}.", key="field_invalid")


def describe(kind: Any) -> str:
    """The type in words."""
    kind, origin, arguments = _parts(kind)
    if kind in _SIMPLE:
        return _SIMPLE[kind][0]
    if origin in (Union, types.UnionType):
        return " or ".join(describe(part) for part in arguments)
    if origin is Literal:
        return "one of " + ", ".join(str(choice) for choice in arguments)
    if isinstance(kind, type) and issubclass(kind, enum.Enum):
        return "one of " + ", ".join(str(member.value) for member in kind)
    if kind is type(None):
        return "null"
    return "a list" if origin in _LISTS else "an object"


def schema(kind: Any, where: str) -> dict[str, Any]:
    """The JSON schema of a type, with the text of an Annotated one as its description.

    Error: ModuleError naming `where` for a type that JSON cannot carry.
    """
    if get_origin(kind) is Annotated:
        kind, *notes = get_args(kind)
        said = next((note for note in notes if isinstance(note, str)), None)
        return {**schema(kind, where), **({"description": said} if said else {})}
    kind, origin, arguments = _parts(kind)
    if kind in (Any, object):
        return {}
    if kind in _SIMPLE:
        return dict(_SIMPLE[kind][1])
    if kind is type(None):
        return {"type": "null"}
    if origin in (Union, types.UnionType):
        return {"anyOf": [schema(part, where) for part in arguments]}
    if origin is Literal:
        return {"enum": list(arguments)}
    if isinstance(kind, type) and issubclass(kind, enum.Enum):
        return {"enum": [member.value for member in kind]}
    if origin in _LISTS and (len(arguments) < 2 or origin is not tuple or arguments[1:] == (...,)):
        return {"type": "array", "items": schema(arguments[0], where)} if arguments else {"type": "array"}
    if origin in _MAPPINGS and (not arguments or arguments[0] is str):
        inner = schema(arguments[1], where) if arguments else {}
        return {"type": "object", "additionalProperties": inner} if inner else {"type": "object"}
    if dataclasses.is_dataclass(kind) and isinstance(kind, type):
        fields = [field for field in dataclasses.fields(kind) if field.init]
        hints = get_type_hints(kind, include_extras=True)
        document: dict[str, Any] = {
            "type": "object",
            "properties": {field.name: schema(hints[field.name], f"{where}.{field.name}") for field in fields},
            "additionalProperties": False,
        }
        if required := [field.name for field in fields if _is_required(field)]:
            document["required"] = required
        return document
    name = getattr(kind, "__name__", str(kind))
    hint = "Use str, int, float, bool, list, dict, Optional, Literal, an Enum, a date, a time or a dataclass."
    if is_typeddict(kind):
        hint = "Use a dataclass instead, or dict."
    raise ModuleError(f"{where}: the type {name} cannot travel as JSON.", hint, key="type_not_json")


def encode(value: object) -> bytes:
    """The value as JSON, dataclasses and dates included; error: ModuleError for what JSON cannot say."""
    try:
        try:
            return json.dumps(
                value, default=_plain, ensure_ascii=False, allow_nan=False, separators=(",", ":")
            ).encode()
        except UnicodeEncodeError:  # half of a pair of surrogates, which only an escape can carry
            return json.dumps(value, default=_plain, allow_nan=False, separators=(",", ":")).encode()
    except (TypeError, ValueError, RecursionError) as error:
        raise ModuleError(
            f"A value cannot be written as JSON: {error}.",
            "Return text, numbers, lists, dicts or dataclasses.",
            key="value_not_json",
        ) from error


@functools.lru_cache(maxsize=256)
def _members(kind: type[Any]) -> tuple[str, ...]:
    return tuple(field.name for field in dataclasses.fields(kind))


def _plain(value: object) -> object:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {name: getattr(value, name) for name in _members(type(value))}
    if isinstance(value, datetime.date | datetime.time):
        return value.isoformat()
    if isinstance(value, enum.Enum):
        return value.value
    if isinstance(value, PurePath):
        return str(value)
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, set | frozenset):
        return sorted(value)
    raise TypeError(f"{type(value).__name__} cannot be written as JSON")


def _parts(kind: Any) -> tuple[Any, Any, tuple[Any, ...]]:
    if get_origin(kind) is Annotated:
        kind = get_args(kind)[0]
    return kind, get_origin(kind) or kind, get_args(kind)


def _alternative(value: object, kinds: tuple[Any, ...], field: str, text: bool, strict: bool) -> Any:
    if value is None and type(None) in kinds:
        return None
    named = [kind for kind in kinds if kind is not type(None)]
    problem: InvalidInput | None = None
    for kind in named:
        try:
            return convert(value, kind, field, text=text, strict=strict)
        except InvalidInput as error:
            problem = error
    if problem is not None and len(named) == 1:
        raise problem
    raise InvalidInput(
        f"{field}: expected {' or '.join(map(describe, kinds))}, not {_shown(value)}.", key="field_invalid"
    )


def _simple(value: object, kind: Any, text: bool) -> object:
    """The converted value, or None if it does not fit."""
    if kind is bool:
        if isinstance(value, bool):
            return value
        return _BOOLEANS.get(value.lower()) if text and isinstance(value, str) else None
    if kind is str:
        return value if isinstance(value, str) else None
    if kind is int:
        number = int(value) if text and isinstance(value, str) and _INTEGER.fullmatch(value) else value
        is_right = isinstance(number, int) and not isinstance(number, bool) and -LARGEST <= number <= LARGEST
        return number if is_right else None
    if kind is float:
        return _number(value, text)
    if not isinstance(value, str):
        return None
    try:
        if kind is datetime.datetime:
            return datetime.datetime.fromisoformat(value)
        return datetime.date.fromisoformat(value) if len(value) == len("2024-01-15") else None
    except ValueError:
        return None


def _number(value: object, text: bool) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float | str) or (isinstance(value, str) and not text):
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


def _dataclass(value: dict[str, Any], kind: Any, field: str, strict: bool) -> Any:
    hints = get_type_hints(kind, include_extras=True)
    fields = {entry.name: entry for entry in dataclasses.fields(kind) if entry.init}
    if strict and (unknown := [name for name in value if name not in fields]):
        raise InvalidInput(
            f"{field}.{unknown[0][:40]}: unknown field; allowed are {', '.join(fields)}.", key="field_unknown"
        )
    for name, entry in fields.items():
        if name not in value and _is_required(entry):
            raise InvalidInput(f"{field}.{name}: this is required ({describe(hints[name])}).", key="field_missing")
    arguments = {
        name: convert(value[name], hints[name], f"{field}.{name}", strict=strict) for name in fields if name in value
    }
    try:
        return kind(**arguments)
    except (ValueError, TypeError) as error:  # said by the dataclass itself
        raise InvalidInput(f"{field}: {error}", key="field_invalid") from error


def _is_required(field: "dataclasses.Field[Any]") -> bool:
    return field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING


def _shown(value: object) -> str:
    if isinstance(value, str):
        return repr(value[:40])
    if isinstance(value, bool | int | float) or value is None:
        return json.dumps(value)[:40]
    return "a list" if isinstance(value, list) else "an object"
