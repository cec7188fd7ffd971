"""Previews of suggestions for people: the text before, the text after, and the lines that differ."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from parachute.base.answers import Answer

_DEPTH = 6


class Previewed(Answer, frozen=True):
    """A change to be read; `diff` is a unified one without names of files. `problem` says why the module cannot make it now."""

    title: str
    before: str | None
    after: str | None
    diff: str
    problem: str | None = None


def previewed(title: str, before: str | None, after: str | None, problem: str | None = None) -> Previewed:
    """Compare two texts."""
    import difflib  # not at every start: only where somebody looks at a suggestion

    lines = difflib.unified_diff((before or "").splitlines(), (after or "").splitlines(), lineterm="")
    # The first two are the names of files.
    return Previewed(title, before, after, "\n".join(list(lines)[2:]), problem)


def readable(value: Mapping[str, Any]) -> str:
    """Fields as lines of text: short ones behind their names, long ones below them."""
    return "\n".join(_lines(value, 0)) + "\n" if value else ""


def _lines(fields: Mapping[str, Any], depth: int) -> Iterator[str]:
    for name, value in fields.items():
        yield from _field(str(name), value, depth)


def _field(name: str, value: Any, depth: int) -> Iterator[str]:
    indent = "  " * depth
    if isinstance(value, Mapping) and value and depth < _DEPTH:
        yield f"{indent}{name}:"
        yield from _lines(value, depth + 1)
    elif isinstance(value, list) and value and depth < _DEPTH and all(isinstance(each, str) for each in value):
        yield f"{indent}{name}: {', '.join(value)}"
    elif isinstance(value, str) and len(value.splitlines()) > 1:
        yield f"{indent}{name}:"
        yield from (f"{indent}  {line}".rstrip() for line in value.splitlines())
    else:
        yield f"{indent}{name}: {value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)}"
