"""Places of a line where a name may stand, and what speaks for it there."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from .judging import POSSESSIVE, SHORT, WEAK, Around, judged, look_around
from .languages.brands import BRANDS
from .languages.detection import Line
from .languages.given_names import GIVEN_NAMES
from .languages.language import Language
from .names import fold

_LONGEST = 6
_LARGE = "A-ZÀ-ÖØ-ÞΑ-ΩЁА-Я" + "".join(filter(str.isupper, map(chr, range(0x100, 0x180))))
_CAPITAL = rf"(?:[{_LARGE}][\w'\u2019&.-]*[\w+#]|[{_LARGE}])"
_JOINED = r"(?:(?:of|the|de|del|la|las|los|van|von|der|den|da|do|dos|di)[ ]+)"
_NAME = re.compile(rf"(?<![\w#@/.]){_CAPITAL}(?:[ ]+{_JOINED}{{0,2}}{_CAPITAL})*")
_DOING = re.compile(
    r"[A-Z][a-z]{2,}ing|[A-Z][a-z]{2,}(?<!r)ed|Ate|Met|Rode|Saw|Took|Wrote|[A-Z][a-zñ]+(?:[éíó]|[ae]ron|[ai]mos)"
)
"""Verb of an action at the beginning of a sentence."""

_SAINTS = frozenset(("san", "santa", "santo", "saint", "sankt", "st", "new", "port", "puerto"))


@dataclass(slots=True)  # not frozen: that costs as much as all else here
class Place:
    """Words of a line that may be a name; `sure` from 0 to 1, or below 0 where something speaks against it."""

    start: int
    end: int
    text: str
    sure: float
    type: str | None = None


@dataclass(slots=True)
class _Cut:
    """Words that may be a name. `is_told`: before them stands a title, or what they are; `is_work`: somebody reads or sees them."""

    start: int
    words: list[str]
    is_told: bool
    is_work: bool


def places(line: Line) -> Iterator[Place]:
    """Places of a line; linear in its length."""
    language = line.language
    runs = list(_NAME.finditer(line.text))
    if not runs or _is_shouted(line):
        return
    line.is_heading = _is_heading(line)
    for run in runs:
        words = run[0].split(" ")
        if len(words) == 1 and (small := words[0].lower()) in language.common and small not in language.titles:
            continue
        for start, part in _parts(run.start(), words, language):
            yield from _placed(line, start, part)


def is_noun(word: str, language: Language) -> bool:
    """True if a word in small letters is written large only since it is a noun."""
    return (
        word in language.things
        or word in language.common
        or len(word) > 14
        or word.endswith(language.endings)
        or any(word[-size:] in language.things for size in range(5, min(len(word), 11)))
    )


def _parts(start: int, words: list[str], language: Language) -> Iterator[tuple[int, list[str]]]:
    """The words of a run with their place; in German what is joined by `von` is one name only behind that of a person."""
    if not language.nouns_are_large or len(words) == 1 or fold(words[0]) in GIVEN_NAMES:
        yield start, [word for word in words if word]
        return
    part: list[str] = []
    at = start
    for word in [*words, "von"]:
        if word and word.islower():
            if part:
                yield at, part
            part = []
        elif word:
            at = at if part else start
            part.append(word)
        start += len(word) + 1


def _placed(line: Line, start: int, words: list[str]) -> Iterator[Place]:
    around = look_around(line, start, words)
    cut = _cut(line, start, words, around)
    if not cut.words or _is_none(cut, line.language):
        return
    is_label = around.is_label
    if cut.start != start or len(cut.words) != len(words):
        around = look_around(line, cut.start, cut.words)
    sure, type_ = (WEAK, None) if cut.is_work else judged(cut.words, around, line, is_label)
    if sure:
        text = POSSESSIVE.sub("", " ".join(cut.words).rstrip(".'\u2019-"))
        yield Place(cut.start, cut.start + len(text), text, sure, type_)


def _cut(line: Line, start: int, words: list[str], around: Around) -> _Cut:
    """Return a run without the words before and after a name that do not belong to it."""
    language, words = line.language, list(words)
    begins, is_work = around.begins, around.last in language.titled
    is_told = around.last in language.titles or around.last in language.kinds
    while words and not is_told:
        first = words[0].lower()
        is_told = len(words) > 1 and (first in language.titles or language.kinds.get(first) == "project")
        if not (
            is_told
            or (begins and (first in language.common or first in language.titled or _DOING.fullmatch(words[0])))
            or (language.nouns_are_large and first not in language.kinds and is_noun(first, language))
        ):
            break
        begins, is_work = begins and not is_told, is_work or first in language.titled
        start = line.text.find(words[1], start + len(words[0])) if len(words) > 1 else start
        del words[0]
    while is_told and len(words) > 1 and words[0].lower() in language.titles:
        start += len(words.pop(0)) + 1
    if not is_told and language.nouns_are_large and words and fold(words[0]) not in GIVEN_NAMES:
        while words and words[-1].lower() in language.things and words[0].lower() not in language.kinds:
            del words[-1]
    while words and (words[-1].islower() or (words[-1] == "I" and len(words) > 1)):
        del words[-1]
    if len(words) > 1 and (begins or language.nouns_are_large) and words[0].lower() not in _SAINTS:
        person = next((place for place, word in enumerate(words) if fold(word) in GIVEN_NAMES), 0)
        start += sum(len(word) + 1 for word in words[:person])
        del words[:person]
    return _Cut(start, words, is_told, is_work)


def _is_none(cut: _Cut, language: Language) -> bool:
    """True for what is written large, and of which nobody keeps notes."""
    words, is_told = cut.words, cut.is_told
    first, last = words[0].lower(), POSSESSIVE.sub("", words[-1].lower())
    if len(words) == 1:
        return (
            len(words[0]) < 2
            or last in BRANDS
            or (not is_told and (last in language.common or last in language.things))
            or last in language.titles
            or last in SHORT
            or (words[0].isupper() and len(words[0]) > 5)
        )
    if len(words) > _LONGEST:
        return True
    if first in language.kinds:
        return False
    if last in language.things and fold(words[0]) not in GIVEN_NAMES:
        return True
    return first in BRANDS or last in BRANDS or (first in language.things and len(words) < 3)


def _is_heading(line: Line) -> bool:
    """True for a heading, and for a title of which every longer word is written large."""
    longer = [word for word in line.words if len(word) > 3 and word[0].isalpha()]
    is_titled = len(longer) > 3 and len(line.words) < 20 and all(word[0].isupper() for word in longer)
    return line.text.lstrip().startswith("#") or (is_titled and not line.language.nouns_are_large)


def _is_shouted(line: Line) -> bool:
    """True for a line of which most words are written in capitals."""
    if not any(map(str.isupper, line.words[1:])):
        return False
    words = [word for word in line.words if len(word) > 1 and word[0].isalpha()]
    return len(words) > 2 and sum(map(str.isupper, words)) > len(words) // 2
