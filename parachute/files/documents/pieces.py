"""Pieces of a long text, each of which the index has under a key of its own."""

from collections.abc import Iterator
from itertools import pairwise

LONGEST = 60_000
"""Letters of a piece."""

_SHORTEST = 40_000
_ENDS = ("\f", "\n", " ")
_BETWEEN = "//"
"""Before the number of a piece: no path has two slashes in a row."""


def starts(text: str) -> list[int]:
    """Return where the pieces of a text begin: at a page or a line, if that is possible."""
    found = [0]
    while len(text) - found[-1] > LONGEST:
        first, last = found[-1] + _SHORTEST, found[-1] + LONGEST
        ends = (text.rfind(end, first, last) for end in _ENDS)
        found.append(next((end + 1 for end in ends if end >= 0), last))
    return found


def pieces(text: str) -> Iterator[str]:
    """Give the pieces of a text, at least one."""
    for first, end in pairwise([*starts(text), len(text)]):
        yield text[first:end]


def key_of(path: str, number: int) -> str:
    """Return the key of a piece; the first one has that of its file."""
    return f"{path}{_BETWEEN}{number}" if number else path


def keys_of(path: str, count: int) -> list[str]:
    """Return the keys of all pieces of a file."""
    return [key_of(path, number) for number in range(count)]


def divided(key: str) -> tuple[str, int]:
    """Return the path and the number of a piece."""
    path, _, number = key.partition(_BETWEEN)
    return path, int(number) if number.isdecimal() else 0
