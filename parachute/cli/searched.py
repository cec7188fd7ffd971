"""Sentences about a search: what it looked through, and how much of that was read."""

from collections.abc import Mapping
from typing import Any

from parachute.cli.output import counted, print_note

NOUNS = {
    "conversations": ("conversation", "conversations"),
    "journal": ("entry", "entries"),
    "knowledge": ("person or thing", "people and things"),
    "files": ("file", "files"),
}
"""The things that are searched, by the kind of their hits: one, and several."""


def nothing_found(words: str, searched: Mapping[str, Mapping[str, Any] | None]) -> list[str]:
    """Return lines that say what was searched for these words, by kind, and how much of it was not read yet."""
    places = [_count(kind, int(numbers["count"])) for kind, numbers in searched.items() if numbers]
    first = f'Nothing found for "{words}" in {", ".join(places)}.' if places else f'Nothing found for "{words}".'
    return [first, *unread(searched)]


def unread(searched: Mapping[str, Mapping[str, Any] | None]) -> list[str]:
    """Return a line that says how much the index has read, where it is not through; it is one index for all kinds."""
    left, total = max(
        ((int(each["waiting"]), int(each["total"])) for each in searched.values() if each), default=(0, 0)
    )
    if not left:
        return []
    read = f"{max(total - left, 0):,} of {counted(total, 'text')} were read for the search by meaning"
    return [f"{read}; search again in a few minutes."]


def print_nothing(words: str, kind: str, numbers: Mapping[str, Any] | None) -> None:
    """Say that nothing of one kind was found."""
    for line in nothing_found(words, {kind: numbers}):
        print_note(line)


def _count(kind: str, number: int) -> str:
    one, several = NOUNS[kind]
    return f"{number:,} {one if number == 1 else several}"
