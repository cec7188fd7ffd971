"""Dataclasses that our own programs wrote as JSON, read back: every field of its type, none missing and none unknown."""

from dataclasses import is_dataclass
from typing import Any, Literal, TypeVar, get_args, get_origin, get_type_hints

Record = TypeVar("Record")


def record_of(kind: type[Record], value: Any) -> Record:
    """A dataclass of what JSON says; fields are texts, numbers, true or false, None, such dataclasses, or tuples of these.

    Error: TypeError naming the field, and those of the class itself.
    """
    if not isinstance(value, dict):
        raise TypeError("it holds no object")
    types = get_type_hints(kind)
    # The class itself refuses what it does not know.
    return kind(**{name: _checked(name, types[name], each) if name in types else each for name, each in value.items()})


def _checked(name: str, kind: Any, value: Any) -> Any:
    if isinstance(kind, type) and is_dataclass(kind):
        return record_of(kind, value)
    if get_origin(kind) is tuple:
        if not isinstance(value, list):
            raise TypeError(f"{name} has the wrong type")
        return tuple(_checked(name, get_args(kind)[0], each) for each in value)
    allowed = get_args(kind) or (kind,)
    if isinstance(value, dict):
        for each in allowed:
            if isinstance(each, type) and is_dataclass(each):
                return record_of(each, value)
    if get_origin(kind) is Literal:
        allowed = tuple(type(each) for each in allowed)
    # Not `isinstance`, for which true is a number.
    if type(value) not in (*allowed, *((int,) if float in allowed else ())):
        raise TypeError(f"{name} has the wrong type")
    return value
