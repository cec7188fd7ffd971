"""Declared settings, laid over those of `config.yaml`."""

from collections.abc import Mapping, Sequence
from typing import Any


def laid_over(document: Mapping[str, Any], declared: Mapping[str, Any]) -> dict[str, Any]:
    """The document with what is declared in the place of what it says, group by group; neither is changed.

    What the file has in the place of a group stays, for whoever checks it to complain of.
    """
    merged = dict(document)
    for name, value in declared.items():
        below = merged.get(name)
        if not isinstance(value, Mapping):
            merged[name] = value
        elif below is None or isinstance(below, Mapping):
            merged[name] = laid_over(below or {}, value)
    return merged


def declares(declared: Mapping[str, Any], path: Sequence[str]) -> str | None:
    """The dotted name of what is declared of a setting, of something inside of it, or of a group that it is in."""
    found: Any = declared
    for depth, part in enumerate(path):
        if not isinstance(found, Mapping):
            return ".".join(path[:depth])
        if part not in found:
            return None
        found = found[part]
    return _first_value(".".join(path), found)


def _first_value(name: str, found: Any) -> str | None:
    if not isinstance(found, Mapping):
        return name
    return next((inner for key, value in found.items() if (inner := _first_value(f"{name}.{key}", value))), None)
