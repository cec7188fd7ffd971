"""Records as people read them: a line for each thing that is said, and none for what is not."""

from collections.abc import Mapping, Sequence
from typing import Any

_INDENT = "  "


def plain_lines(value: Any) -> list[str]:
    """Lines for a value of JSON; names stand before what they hold, and what is empty is left out."""
    if isinstance(value, Mapping):
        return [line for name, each in value.items() for line in _named(_in_one_line(str(name)), each)]
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [line for each in value for line in _item(each)]
    return _text(value).splitlines()


def _in_one_line(name: str) -> str:
    # A name may come from an agent: with an end of a line in it, what follows would pass for another field.
    return " ".join(name.replace("_", " ").split())


def _named(name: str, value: Any) -> list[str]:
    if value is None or value in ("", [], {}):
        return []
    lines = plain_lines(value)
    if len(lines) == 1 and not isinstance(value, Mapping | list):
        return [f"{name}: {lines[0]}"]
    return [f"{name}:", *(f"{_INDENT}{line}" for line in lines)] if lines else []


def _item(value: Any) -> list[str]:
    first, *rest = plain_lines(value) or [""]
    return [f"- {first}", *(f"{_INDENT}{line}" for line in rest)]


def _text(value: Any) -> str:
    return {True: "yes", False: "no", None: ""}[value] if value is None or isinstance(value, bool) else str(value)
