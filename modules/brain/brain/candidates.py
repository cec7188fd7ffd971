"""Names in a text that nobody knows yet: of people, places and projects, tags, and what something is said to be about.

Each place where a name may stand counts by itself, from what is before and after it. What is not sure after one place may be after
several, in different lines: whoever asks again with all that was ever written about it gets a surer answer.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from .languages.detection import Line, lines_of
from .places import Place, places
from .spans import Spans

MOST = 20

_SUREST = 0.75
_TAG = re.compile(r"(?<![\w#&/])#([^\W\d_][\w-]{1,39})")
_WORDS = r"(?:the\s+|an?\s+)?((?:[a-z][a-z-]{2,}\s+){1,2}[a-z][a-z-]{3,})(?=[.,;:!?)\n]|$)"
_STUDIED = re.compile(
    r"\b(?:(?:learn|learning|read|reading|teach|teaching)\s+about|learning|studying|exploring|(?:module|course|talk|book|article|paper|lecture|workshop|notes|class)s?\s+on)\s+"
    + _WORDS,
    re.MULTILINE,
)
_ABOUT = re.compile(r"\b(?:about|regarding|discussed)\s+" + _WORDS, re.MULTILINE)


@dataclass(frozen=True, slots=True)
class NewName:
    """Words that may become an entity, with a guess at its type."""

    text: str
    confidence: float
    type: str | None


def new_names(text: str, taken: Spans) -> list[NewName]:
    """Candidates outside of the places that are taken, the surest first."""
    found: dict[str, _Evidence] = {}
    for line in lines_of(text):
        here: dict[str, Place] = {}
        for place in (*places(line), *_tags(line.text), *_topics(line)):
            if taken.touches(line.start + place.start, line.start + place.end):
                continue
            known = here.get(key := place.text.casefold())
            # One that speaks against it speaks for the whole line.
            if known is None or (known.sure >= 0 and (place.sure < 0 or place.sure > known.sure)):
                here[key] = place
        for key, place in here.items():
            found.setdefault(key, _Evidence(place.text)).add(place)
    names = [evidence.name(text) for evidence in found.values()]
    return sorted((name for name in names if name is not None), key=lambda name: -name.confidence)[:MOST]


@dataclass(slots=True)
class _Evidence:
    """All that speaks for a name, and whether something speaks against it."""

    text: str
    doubt: float = 1.0
    best: float = 0.0
    type: str | None = None
    is_refused: bool = False

    def add(self, place: Place) -> None:
        """Take one more line into account."""
        if place.sure < 0:
            self.is_refused = True
            return
        if place.sure > self.best:
            self.best, self.text = place.sure, place.text
        self.type = self.type or place.type
        self.doubt *= 1 - place.sure

    def name(self, text: str) -> NewName | None:
        """The candidate, if there is enough for one."""
        if self.best == 0.0 or (self.is_refused and self.best < _CERTAIN):
            return None
        small = self.text.lower()
        if self.best < _CERTAIN and small != self.text and re.search(rf"(?<!\w){re.escape(small)}(?!\w)", text):
            return None  # written small elsewhere: a word like others
        return NewName(self.text, round(max(self.best, min(_SUREST, 1 - self.doubt)), 2), self.type)


_CERTAIN = 0.5
"""From here on one place is enough, whatever others say."""


def _tags(line: str) -> Iterator[Place]:
    for match in _TAG.finditer(line):
        yield Place(match.start(), match.end(), match[1], 0.6, "topic")


def _topics(line: Line) -> Iterator[Place]:
    language = line.language
    if language.code != "en":
        return
    for pattern, sure in ((_STUDIED, 0.5), (_ABOUT, 0.25)):
        for match in pattern.finditer(line.text):
            words = match[1].split()
            if not language.common.intersection(words):
                yield Place(match.start(1), match.end(1), " ".join(words), sure, "topic")
