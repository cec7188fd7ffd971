"""Confidence that capitalized words are a name, by the words before and after them."""

import re
from dataclasses import dataclass

from .languages.detection import Line
from .languages.given_names import GIVEN_NAMES
from .names import fold

SURE, LIKELY, WEAK = 0.6, 0.5, 0.3
"""Sure and likely are enough by themselves; what is weak needs a second place."""

_FULL = 0.7
_AGAINST = -1.0
_FEW = 4
"""Words of a time, such as 10:30, with which a line may begin."""

SHORT = frozenset(("dr", "dra", "prof", "mr", "mrs", "ms", "sr", "sra", "srta", "st", "fr", "hr", "mt"))
"""Abbreviations, whose full stop ends no sentence."""

_ENDS = re.compile(r"[.!?:;\u2026\u00bf\u00a1\u2190-\U0010ffff]")
"""Characters that end a sentence, pictures among them."""

_STOPS = re.compile(r"[.!?\u2026]")
_NEAR = 20
_QUOTES = "\"'\u201c\u201e\u00ab\u2018\u201a"
_BESIDE = re.compile(rf"[ .]*[{_QUOTES}]?")
POSSESSIVE = re.compile(r"['\u2019]s$")
_AND = frozenset(("and", "und", "y"))
_CLAUSE = frozenset(("", "und", "dass", "weil", "ob", "wenn", "aber", "als", "doch"))
_IS = frozenset(("hat", "ist", "war", "kam", "kommt", "hatte", "wird", "kann", "geht", "ging", "geht's", "schläft"))


@dataclass(slots=True)  # not frozen: that costs as much as all else here
class Around:
    """Words around a name, in lower case: the `last` word before it, the `second` last, and the `next` one.

    `joins`: after the next one comes another name; `is_label`: it begins a line, and a colon follows; `number` is that of its first word.
    """

    last: str
    second: str
    next: str
    joins: bool
    begins: bool
    is_quoted: bool
    is_label: bool
    number: int


def look_around(line: Line, start: int, words: list[str]) -> Around:
    """Return the words around those that begin at a place of a line."""
    end = start + len(" ".join(words))
    number = line.word_at(start)
    last, second = (line.small[number - 1] if number else ""), (line.small[number - 2] if number > 1 else "")
    gap = line.text[line.ends[number - 1] if number else 0 : start]
    begins = number == 0 or (gap != " " and _ENDS.search(gap) is not None and last not in SHORT)
    begins = begins or (last.isdigit() and number < _FEW and not any(map(str.isalpha, line.text[:start])))
    following, joins = "", False
    after = line.word_at(end)
    if after < len(line.words) and line.text[end : line.starts[after]].isspace():
        following = line.small[after]
        joins = following in _AND and after + 1 < len(line.words) and line.words[after + 1][0].isupper()
    return Around(
        last="" if begins or (gap != " " and not _BESIDE.fullmatch(gap)) else last,
        second=second,
        next=following,
        joins=joins,
        begins=begins,
        is_quoted=gap != "" and gap[-1] in _QUOTES,
        is_label=begins and line.text[end : end + 3].lstrip("*_ ")[:1] == ":",
        number=number,
    )


def judged(words: list[str], around: Around, line: Line, is_label: bool) -> tuple[float, str | None]:
    """Return the confidence that some words are a name, and its type."""
    language = line.language
    last, first = around.last, words[0].lower()
    if last in language.titles and last not in language.kinds:
        return SURE, "person"
    if kind := language.kinds.get(last) or (language.kinds.get(first) if len(words) > 1 else None):
        return SURE, kind
    if around.is_quoted:
        return 0.0, None
    is_given = fold(POSSESSIVE.sub("", first)) in GIVEN_NAMES
    if len(words) == 1 and words[0].rstrip("s").isupper():
        return WEAK, None
    if is_given:
        return (_FULL if len(words) > 1 else SURE), "person"
    if is_label or line.is_heading:
        return 0.0, None
    if language.nouns_are_large:
        return _judged_noun(words, around, line)
    return _judged_word(words, around, line)


def _judged_word(words: list[str], around: Around, line: Line) -> tuple[float, str | None]:
    """The same where only names are written large."""
    language = line.language
    does = around.next in language.doing
    is_person = does or around.last in language.with_people
    type_ = "person" if is_person or (around.last == "a" and around.second in language.with_people) else None
    if len(words) > 1:
        return (LIKELY if around.begins else _FULL), type_
    if not around.begins:
        # A sentence without a small letter at the beginning of a word is a list, of anything.
        is_list = not any(word[0].islower() for word in _sentence(line, around.number))
        return (WEAK if is_list or not language.code else 0.55), type_
    if does or POSSESSIVE.search(words[-1]) or around.joins:
        return LIKELY, "person" if does else None
    return 0.0, None


def _judged_noun(words: list[str], around: Around, line: Line) -> tuple[float, str | None]:
    """The same where nouns are written large as well."""
    language = line.language
    if around.last in language.determiners:
        return _AGAINST, None
    sentence = [word.lower() for word in _sentence(line, around.number)]
    has_deed = not language.deeds.isdisjoint(sentence)
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
        return (LIKELY if not language.journeys.isdisjoint(sentence) else WEAK), None
    return (WEAK if len(words) > 1 else 0.0), None


def _sentence(line: Line, number: int) -> list[str]:
    """The words of the sentence that has a word, as far as they are near it."""
    first, last = number, number + 1
    while first > max(0, number - _NEAR) and not _STOPS.search(line.text, line.ends[first - 1], line.starts[first]):
        first -= 1
    end = min(len(line.words), number + _NEAR)
    while last < end and not _STOPS.search(line.text, line.ends[last - 1], line.starts[last]):
        last += 1
    return line.words[first:last]
