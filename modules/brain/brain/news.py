"""Sentences that tell something of an entity that lasts: that somebody moved, proposed, began, and not that there was tea."""

import re
from collections.abc import Iterable
from itertools import islice

from .languages.detection import lines_of

_LONGEST = 400
_MOST = 20
_END = re.compile(r"[.!?\u2026]+[\"'\u201c\u201d\u00bb)]*(?=\s|$)")
_MARK = re.compile(r"^\s*(?:[-*+>]\s+|\d+[.)]\s+|#+\s+)?(?:\[[ xX]\]\s+)?")


def news_of(text: str, places: Iterable[tuple[int, int]]) -> str | None:
    """The first sentence that tells something of what is named at the first of these places of a text; None if there is none."""
    for start, end in islice(places, _MOST):
        sentence = _sentence(text, start, end)
        if sentence is not None and _tells(sentence):
            return sentence
    return None


def _tells(sentence: str) -> bool:
    return any(word.startswith(line.language.news) for line in lines_of(sentence) for word in line.small)


def _sentence(text: str, start: int, end: int) -> str | None:
    """The sentence around a place, without the sign of a list; None if it is too long to be one."""
    first = text.rfind("\n", 0, start) + 1
    last = text.find("\n", end)
    line = text[first : last if last >= 0 else len(text)]
    if len(line) > 10 * _LONGEST:
        return None
    begin, finish = 0, len(line)
    for match in _END.finditer(line):
        if match.end() <= start - first:
            begin = match.end()
        elif match.start() >= end - first:
            finish = match.end()
            break
    sentence = _MARK.sub("", line[begin:finish]).strip()
    return sentence if 0 < len(sentence) <= _LONGEST else None
