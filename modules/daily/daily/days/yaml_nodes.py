"""The YAML at the top of a day, and lines of it as the app writes them."""

import re
from collections.abc import Mapping
from typing import Any

import yaml

from parachute.core import InvalidInput, documents

BOUNDS = documents.Bounds(size=8 * 1024 * 1024, depth=20, nodes=200_000, core_schema=True)
_WIDE = 1_000_000
_TIME = re.compile(r"[0-9]{2}:[0-9]{2}")
_PLAIN = re.compile(r"[a-z][a-z0-9_/.:-]*[a-z0-9]")
_RESERVED = frozenset(["yes", "no", "on", "off", "true", "false", "null"])


def composed(text: str) -> Any:
    """The root node, None of an empty text; error: InvalidInput."""
    try:
        return documents.compose(text, BOUNDS)
    except documents.NotYaml as error:
        # The first line of the file is the `---`.
        raise InvalidInput(
            f"The part between the lines `---` cannot be read: line {error.line + 1}: {error.reason}",
            key="front_matter_unreadable",
        ) from error


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
    """True if a text is written as it is; others are left to the library, which is slow."""
    return _PLAIN.fullmatch(text) is not None and text not in _RESERVED
