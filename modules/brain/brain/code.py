"""Places of a Markdown text that are code, where nothing is a link or a heading."""

import re
from collections.abc import Iterator

from .spans import Spans

_FENCE = re.compile(r"[ \t]*(?:(?:[-*+>]|\d{1,9}[.)])[ \t]+)*(?P<fence>`{3,}(?!.*`)|~{3,})")
_TICKS = re.compile(r"`+")


def places(text: str) -> Spans:
    """Fenced blocks, of which the last may have no end, and code within a line; it takes linear time."""
    return Spans(_places(text) if "`" in text or "~~~" in text else ())


def _places(text: str) -> Iterator[tuple[int, int]]:
    fence, begin, position = "", 0, 0
    for line in text.splitlines(keepends=True):
        end = position + len(line)
        if fence:
            inner = line.strip()
            if len(inner) >= len(fence) and not inner.strip(fence[0]):
                yield begin, end
                fence = ""
        elif match := _FENCE.match(line):
            fence, begin = match["fence"], position
        else:
            yield from _in_line(line, position)
        position = end
    if fence:
        yield begin, position


def _in_line(line: str, offset: int) -> Iterator[tuple[int, int]]:
    """From some backticks to the next ones that are as many."""
    ticks = [match.span() for match in _TICKS.finditer(line)]
    later: dict[int, list[int]] = {}
    for number in range(len(ticks) - 1, -1, -1):
        later.setdefault(ticks[number][1] - ticks[number][0], []).append(number)
    number = 0
    while number < len(ticks):
        same = later[ticks[number][1] - ticks[number][0]]
        while same and same[-1] <= number:
            same.pop()
        closing = same[-1] if same else number
        if closing > number:
            yield offset + ticks[number][0], offset + ticks[closing][1]
        number = closing + 1
