"""The lines of a text with their words, and which language each is in, by its commonest words."""

import re
from bisect import bisect_left
from collections.abc import Iterator, Set
from dataclasses import dataclass, replace

from .english import ENGLISH
from .german import GERMAN
from .language import Language
from .spanish import SPANISH

_LANGUAGES = (ENGLISH, GERMAN, SPANISH)
_TELLING = [language.common | language.doing for language in _LANGUAGES]
UNKNOWN = replace(ENGLISH, code="")
_WORD = re.compile(r"[^\W_][\w'\u2019-]*")
_NEAR = 2_000
_SIGNS = re.compile(r"([äöüß])|([ñ¿¡áíóú])")


@dataclass(slots=True)  # not frozen: that costs as much as all else here
class Line:
    """A line with its words, as they are and in small letters, and where they begin and end."""

    start: int
    text: str
    language: Language
    words: list[str]
    starts: list[int]
    ends: list[int]
    small: list[str]
    small_set: Set[str]
    is_heading: bool = False

    def word_at(self, place: int) -> int:
        """The number of the first word that begins at a place or after it."""
        return bisect_left(self.starts, place)


def lines_of(text: str) -> Iterator[Line]:
    """Each line that has words; one whose words do not tell is in the language of the whole text."""
    whole: Language | None = None
    start = 0
    for line in text.split("\n"):
        matches = list(_WORD.finditer(line))
        if matches:
            words = [match[0] for match in matches]
            small = [word.lower() for word in words]
            small_set = set(small)
            language = _language_of(small_set, line)
            if language is None:
                language = whole = whole or _whole(text, line)
            starts, ends = [match.start() for match in matches], [match.end() for match in matches]
            yield Line(start, line, language, words, starts, ends, small, small_set)
        start += len(line) + 1


def _whole(text: str, line: str) -> Language:
    if text == line:
        return UNKNOWN
    text = text[: _NEAR * 5]
    return _language_of({word.lower() for word in _WORD.findall(text)}, text) or UNKNOWN


def _language_of(words: Set[str], text: str) -> Language | None:
    """The language of which a text has the most common words; None if it has none, or as many of two."""
    scores = [2 * len(words & telling) for telling in _TELLING]
    best = max(scores)
    if best < 4 or scores.count(best) > 1:
        signs = _SIGNS.search(text, 0, _NEAR)
        if signs is not None:
            scores[1 if signs[1] else 2] += 1
            best = max(scores)
    return None if best == 0 or scores.count(best) > 1 else _LANGUAGES[scores.index(best)]
