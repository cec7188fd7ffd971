"""Places of a line where a name may stand, and what speaks for it there."""

import re
from collections.abc import Iterator, Set
from dataclasses import dataclass

from .languages.brands import BRANDS
from .languages.detection import Line
from .languages.given_names import GIVEN_NAMES
from .languages.language import Language
from .names import fold

SURE, LIKELY, WEAK = 0.6, 0.5, 0.3
"""Sure and likely are enough by themselves; what is weak needs a second place."""

_FULL = 0.7
_AGAINST = -1.0
_LARGE = "A-ZÀ-ÖØ-ÞΑ-ΩЁА-Я" + "".join(filter(str.isupper, map(chr, range(0x100, 0x180))))
_CAPITAL = rf"(?:[{_LARGE}][\w'\u2019&.-]*[\w+#]|[{_LARGE}])"
_JOINED = r"(?:(?:of|the|de|del|la|las|los|van|von|der|den|da|do|dos|di)[ ]+)"
_NAME = re.compile(rf"(?<![\w#@/.]){_CAPITAL}(?:[ ]+{_JOINED}{{0,2}}{_CAPITAL})*")
_FEW = 4
"""Words of a time, such as 10:30, with which a line may begin."""

_SHORT = frozenset(("dr", "dra", "prof", "mr", "mrs", "ms", "sr", "sra", "srta", "st", "fr", "hr", "mt"))
"""What has a point behind it that ends no sentence."""

_ENDS = re.compile(r"[.!?:;\u2026\u00bf\u00a1\u2190-\U0010ffff]")
"""What ends a sentence: so do pictures."""

_QUOTES = "\"'\u201c\u201e\u00ab\u2018\u201a"
_BESIDE = re.compile(rf"[ .]*[{_QUOTES}]?")
_POSSESSIVE = re.compile(r"['\u2019]s$")
_DOING = re.compile(r"[A-Z][a-z]{2,}ing|[A-Z][a-z]{2,}(?<!r)ed|Ate|Met|Rode|Saw|Took|Wrote|[A-Z][a-zñ]+[éí]")
"""What somebody did, where a sentence begins with it."""

_SAINTS = frozenset(("san", "santa", "santo", "saint", "sankt", "st", "new", "port", "puerto"))
_AND = frozenset(("and", "und", "y"))
_CLAUSE = frozenset(("", "und", "dass", "weil", "ob", "wenn", "aber", "als", "doch"))
_IS = frozenset(("hat", "ist", "war", "kam", "kommt", "hatte", "wird", "kann", "geht", "ging", "geht's", "schläft"))


@dataclass(slots=True)  # not frozen: that costs as much as all else here
class Place:
    """Words of a line that may be a name; `sure` from 0 to 1, or below 0 where something speaks against it."""

    start: int
    end: int
    text: str
    sure: float
    type: str | None = None


@dataclass(slots=True)  # not frozen: that costs as much as all else here
class _Around:
    """What stands around a name, in small letters; the `last` word before it, the `second` last, and the `next` one.

    `joins`: after the next one comes another name.
    """

    last: str
    second: str
    next: str
    joins: bool
    begins: bool
    is_quoted: bool
    line: Set[str]


def places(line: Line) -> Iterator[Place]:
    """Places of a line; linear in its length."""
    language = line.language
    runs = list(_NAME.finditer(line.text))
    if not runs or _is_shouted(line):
        return
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
    language, first_start = line.language, start
    around = _around(line, start, start + len(" ".join(words)))
    count, begins, is_work = len(words), around.begins, around.last in language.titled
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
    if not is_told and language.nouns_are_large:
        while words and words[-1].lower() in language.things and words[0].lower() not in language.kinds:
            del words[-1]
    while words and (words[-1].islower() or (words[-1] == "I" and len(words) > 1)):
        del words[-1]
    if len(words) > 1 and (begins or language.nouns_are_large) and words[0].lower() not in _SAINTS:
        person = next((place for place, word in enumerate(words) if fold(word) in GIVEN_NAMES), 0)
        start += sum(len(word) + 1 for word in words[:person])
        del words[:person]
    if not words or _is_none(words, language, is_told):
        return
    text = " ".join(words)
    if start != first_start or count != len(words):
        around = _around(line, start, start + len(text))
    sure, type_ = (WEAK, None) if is_work else _judged(words, text, around, language)
    if sure:
        text = _POSSESSIVE.sub("", text.rstrip(".'\u2019-"))
        yield Place(start, start + len(text), text, sure, type_)


def _is_none(words: list[str], language: Language, is_told: bool) -> bool:
    """True for what is written large, and of which nobody keeps notes."""
    first, last = words[0].lower(), _POSSESSIVE.sub("", words[-1].lower())
    if len(words) == 1:
        return (
            len(words[0]) < 2
            or last in BRANDS
            or (last in language.common and not is_told)
            or (last in language.things and not is_told)
            or last in language.titles
            or last in _SHORT
            or (words[0].isupper() and len(words[0]) > 5)
        )
    if first in language.kinds:
        return False
    return first in BRANDS or last in BRANDS or last in language.things or (first in language.things and len(words) < 3)


def _judged(words: list[str], text: str, around: _Around, language: Language) -> tuple[float, str | None]:
    """How sure it is that some words are a name, and its type."""
    last, first = around.last, words[0].lower()
    if last in language.titles and last not in language.kinds:
        return SURE, "person"
    if kind := language.kinds.get(last) or (language.kinds.get(first) if len(words) > 1 else None):
        return SURE, kind if kind != "topic" else None
    if around.is_quoted:
        return 0.0, None
    is_given = fold(_POSSESSIVE.sub("", first)) in GIVEN_NAMES
    if len(words) == 1 and words[0].rstrip("s").isupper():
        return WEAK, None
    if is_given:
        return (_FULL if len(words) > 1 else SURE), "person"
    if language.nouns_are_large:
        return _judged_noun(words, around, language)
    return _judged_word(words, text, around, language)


def _judged_word(words: list[str], text: str, around: _Around, language: Language) -> tuple[float, str | None]:
    """The same where only names are written large."""
    does = around.next in language.doing
    is_person = does or around.last in language.with_people
    type_ = "person" if is_person or (around.last == "a" and around.second in language.with_people) else None
    if len(words) > 1:
        return (LIKELY if around.begins else _FULL), type_
    if not around.begins:
        return (0.55 if language.code else WEAK), type_
    if does or _POSSESSIVE.search(text) or (around.joins):
        return LIKELY, "person" if does else None
    return 0.0, None


def _judged_noun(words: list[str], around: _Around, language: Language) -> tuple[float, str | None]:
    """The same where nouns are written large as well."""
    if around.last in language.determiners:
        return _AGAINST, None
    has_deed = not language.deeds.isdisjoint(around.line)
    if around.last in language.with_people:
        return (LIKELY if has_deed or around.second in language.meetings else WEAK), "person"
    begins = around.begins or around.last in _CLAUSE
    if begins and around.next in language.doing:
        return LIKELY, "person"
    if begins and around.next in _IS:
        return (LIKELY if has_deed else WEAK), None
    if around.last in _AND and fold(around.second) in GIVEN_NAMES:
        return LIKELY, "person"
    if around.last in language.to_places:
        return (LIKELY if not language.journeys.isdisjoint(around.line) else WEAK), None
    return (WEAK if len(words) > 1 else 0.0), None


def _around(line: Line, start: int, end: int) -> _Around:
    number = line.word_at(start)
    last, second = (line.small[number - 1] if number else ""), (line.small[number - 2] if number > 1 else "")
    gap = line.text[line.ends[number - 1] if number else 0 : start]
    begins = number == 0 or (gap != " " and _ENDS.search(gap) is not None and last not in _SHORT)
    begins = begins or (last.isdigit() and number < _FEW and not any(map(str.isalpha, line.text[:start])))
    following, joins = "", False
    after = line.word_at(end)
    if after < len(line.words) and line.text[end : line.starts[after]].isspace():
        following = line.small[after]
        joins = following in _AND and after + 1 < len(line.words) and line.words[after + 1][0].isupper()
    return _Around(
        last="" if begins or (gap != " " and not _BESIDE.fullmatch(gap)) else last,
        second=second,
        next=following,
        joins=joins,
        begins=begins,
        is_quoted=gap != "" and gap[-1] in _QUOTES,
        line=line.small_set,
    )


def _is_shouted(line: Line) -> bool:
    """True for a line of which most words are written in capitals."""
    if not any(map(str.isupper, line.words[1:])):
        return False
    words = [word for word in line.words if len(word) > 1 and word[0].isalpha()]
    return len(words) > 2 and sum(map(str.isupper, words)) > len(words) // 2
