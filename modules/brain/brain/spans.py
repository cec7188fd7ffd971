"""Places in a text that are taken already."""

from bisect import bisect_left
from collections.abc import Iterable


class Spans:
    """Places as pairs of begin and end; those that overlap become one."""

    def __init__(self, places: Iterable[tuple[int, int]]) -> None:
        merged: list[tuple[int, int]] = []
        for start, end in sorted(places):
            if merged and start < merged[-1][1]:
                merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
            else:
                merged.append((start, end))
        self._places = merged

    def touches(self, start: int, end: int) -> bool:
        """True if a place has a character in common with one of them."""
        index = bisect_left(self._places, (end,))
        return index > 0 and self._places[index - 1][1] > start
