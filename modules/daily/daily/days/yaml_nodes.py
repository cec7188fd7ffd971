"""YAML as nodes with their places in the text, and as plain values: times and dates stay text."""

import re
from collections.abc import Mapping
from typing import Any

import yaml

from parachute.core import InvalidInput

_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_TYPES: Mapping[str, Any] = {"int": int, "float": float}
_WIDE = 1_000_000
_TIME = re.compile(r"[0-9]{2}:[0-9]{2}")
_PLAIN = re.compile(r"[a-z][a-z0-9_/.:-]*[a-z0-9]")
_RESERVED = frozenset(["yes", "no", "on", "off", "true", "false", "null"])


def composed(text: str) -> Any:
    """The root node, None of an empty text; error: InvalidInput."""
    try:
        return yaml.compose(text, Loader=_Loader)
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        mark = getattr(error, "problem_mark", None)
        where = f"line {mark.line + 2}: " if mark else ""
        reason = getattr(error, "problem", None) or type(error).__name__
        raise InvalidInput(f"The part between the lines `---` is no YAML: {where}{reason}.") from error


def value_of(node: Any) -> Any:
    """What a node says; error: InvalidInput for what refers to other nodes."""
    return _value(node, set())


def child(node: Any, name: str) -> tuple[Any, Any] | None:
    """The key and the value of this name, the last ones if there are several."""
    if isinstance(node, yaml.MappingNode):
        for key, value in reversed(node.value):
            if isinstance(key, yaml.ScalarNode) and key.value == name:
                return key, value
    return None


def is_block(node: Any) -> bool:
    """Whether a node is a mapping with a line for each of its names."""
    return isinstance(node, yaml.MappingNode) and not node.flow_style and bool(node.value)


def span(text: str, key: Any, value: Any) -> tuple[int, int]:
    """Where the lines of a pair begin and end."""
    return text.rfind("\n", 0, key.start_mark.index) + 1, end(text, key, value)


def end(text: str, key: Any, value: Any) -> int:
    """Where the lines of a pair end, without empty ones and comments behind it."""
    while is_block(value):
        key, value = value.value[-1]
    last = value.end_mark.index
    while last > key.end_mark.index and text[last - 1].isspace():
        last -= 1
    found = text.find("\n", last)
    return len(text) if found < 0 else found + 1


def lines_of(values: Mapping[str, Any], column: int, eol: str) -> str:
    """The lines that say something, as the app writes them."""
    lines: list[str] = []
    for key, value in values.items():
        inner = isinstance(value, dict) and bool(value)
        lines += [" " * column + line + eol for line in _pair(key, None if inner else value, inner)]
        if inner:
            lines.append(lines_of(value, column + 2, eol))
    return "".join(lines)


def _pair(key: str, value: Any, inner: bool) -> list[str]:
    if _is_plain(key):
        if inner:
            return [f"{key}:"]
        if isinstance(value, str) and (_is_plain(value) or _TIME.fullmatch(value)):
            return [f"{key}: {value}"]
    text = yaml.safe_dump(
        {key: value},
        allow_unicode=True,
        width=_WIDE,
        default_flow_style=None if isinstance(value, list | dict) else False,
    ).rstrip("\n")
    if isinstance(value, str) and _TIME.fullmatch(value):
        text = text.replace(f"'{value}'", value)
    return (text.removesuffix(" null") if inner else text).split("\n")


def _is_plain(text: str) -> bool:
    """Whether a text is written as it is; others are left to the library, which is slow."""
    return _PLAIN.fullmatch(text) is not None and text not in _RESERVED


def _value(node: Any, seen: set[int]) -> Any:
    if node is None:
        return None
    if isinstance(node, yaml.ScalarNode):
        return _scalar(node)
    if id(node) in seen:
        raise InvalidInput("The part between the lines `---` uses `*name`, which is not read here.")
    seen.add(id(node))
    if isinstance(node, yaml.SequenceNode):
        return [_value(item, seen) for item in node.value]
    return {str(key.value): _value(value, seen) for key, value in node.value}


def _scalar(node: Any) -> Any:
    kind = node.tag.rpartition(":")[2]
    if kind == "null":
        return None
    if kind == "bool":
        return node.value.lower() in ("true", "yes", "on")
    if kind in _TYPES:
        try:
            return _TYPES[kind](node.value)
        except ValueError:
            pass  # octal, sexagesimal and the like: as it is written
    return node.value
