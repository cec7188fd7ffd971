"""YAML that people write by hand: read without its traps, and changed without touching what stays the same."""

from collections.abc import Mapping
from typing import Any

from parachute.core import documents, front_matter
from parachute.core.front_matter import write

__all__ = ["BOUNDS", "NotYaml", "edit", "read", "write"]

BOUNDS = documents.Bounds(size=128 * 1024, depth=20, core_schema=True)


class NotYaml(Exception):
    """A text cannot be read; the sentence says why."""


def read(text: str, above: int = 0) -> dict[str, Any]:
    """The mapping that a text holds, its values as JSON can say them; an empty text is an empty one.

    Error: NotYaml with the line in a file that has so many lines above the text.
    """
    try:
        return documents.load_mapping(text, BOUNDS)
    except documents.NotYaml as error:
        raise NotYaml(f"line {error.line + above}: {error.reason}") from error


def edit(text: str, changes: Mapping[str, Any], newline: str = "\n") -> str:
    """The text with some fields changed, None removes one; other fields and comments stay as they are. Error: NotYaml."""
    before = read(text, above=1)
    try:
        return front_matter.edit(text, {(name,): value for name, value in changes.items()}, newline, BOUNDS)
    except front_matter.NotEditable:
        # Such as a mapping in braces, which has no lines of its own.
        wanted = {
            name: value for name, value in {**before, **changes}.items() if value is not None or name not in changes
        }
        return write(wanted).replace("\n", newline)
