"""Names in a text that nobody knows yet: capitals within a sentence, tags, and what something is said to be about."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from .spans import Spans
from .stop_words import STOP_WORDS

MOST = 20

_CAPITAL = r"(?:[A-ZÀ-ÖØ-Þ][\w'\u2019&.-]*[\w+#]|[A-Z])"
_NAME = re.compile(rf"(?<![\w#@/.]){_CAPITAL}(?:[ ]+(?:(?:of|de|van|von|der|la|the|and)[ ]+)?{_CAPITAL})*")
_BEGINNING = re.compile(r"(?:^|[.!?:\n][\"'\u201d\u2019)\]*_]*\s*|^\s*[-*+>]\s+)$", re.MULTILINE)
_PERSON = re.compile(r"\b(?:with|met|called|asked|told|saw|thanks|thank|from|by|dear|mit)\s+$", re.IGNORECASE)
_DOING = re.compile(
    r"[A-Z][a-z]{2,}ing|Ate|Called|Cooked|Finished|Heard|Met|Played|Read|Saw|Started|Visited|Watched|Wrote"
)
"""What somebody did, where a sentence begins with it: `Reading Momo again` is about Momo."""

_TAG = re.compile(r"(?<![\w#&/])#([^\W\d_][\w-]{1,39})")
_ABOUT = re.compile(
    r"\b(?:on|about|regarding|into|learning|studying|discussed|exploring)\s+(?:the\s+|an?\s+)?"
    r"((?:[a-z][a-z-]{2,}\s+){1,2}[a-z][a-z-]{3,})(?=[.,;:!?)\n]|$)",
    re.MULTILINE,
)


@dataclass(frozen=True, slots=True)
class NewName:
    """Words that may become an entity, with a guess at its type."""

    text: str
    confidence: float
    type: str | None


def new_names(text: str, taken: Spans) -> list[NewName]:
    """Candidates outside of the places that are taken, the surest first."""
    found: dict[str, NewName] = {}
    for start, end, candidate in (*_capitals(text), *_tags(text), *_topics(text)):
        if taken.touches(start, end):
            continue
        known = found.get(candidate.text.casefold())
        if known is None or candidate.confidence > known.confidence:
            found[candidate.text.casefold()] = candidate
    return sorted(found.values(), key=lambda entry: -entry.confidence)[:MOST]


def _capitals(text: str) -> Iterator[tuple[int, int, NewName]]:
    for match in _NAME.finditer(text):
        name, start = match[0].rstrip(".'\u2019-"), match.start()
        name = re.sub(r"['\u2019]s$", "", name)
        begins = bool(_BEGINNING.search(text[max(0, start - 8) : start])) or start == 0
        first, _, rest = name.partition(" ")
        if begins and rest and (first.lower() in STOP_WORDS or _DOING.fullmatch(first)):
            start, name, begins = start + len(first) + 1, rest, False
        # A single word with a capital at the beginning of a sentence says nothing.
        if len(name) < 2 or name.lower() in STOP_WORDS or (begins and " " not in name):
            continue
        person = bool(_PERSON.search(text[max(0, start - 12) : start]))
        sure = 0.7 if " " in name else 0.55
        yield start, start + len(name), NewName(name, sure, "person" if person else None)


def _tags(text: str) -> Iterator[tuple[int, int, NewName]]:
    for match in _TAG.finditer(text):
        yield match.start(), match.end(), NewName(match[1], 0.6, "topic")


def _topics(text: str) -> Iterator[tuple[int, int, NewName]]:
    for match in _ABOUT.finditer(text):
        words = match[1].split()
        if not STOP_WORDS.intersection(words):
            yield match.start(1), match.end(1), NewName(" ".join(words), 0.4, "topic")
