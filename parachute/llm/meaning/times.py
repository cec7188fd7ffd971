"""Times of the year that a text speaks of: a question "before Easter" asks for what was in the weeks before."""

import re
from collections.abc import Iterator
from datetime import date, timedelta

from msgspec import Struct

from parachute.llm.meaning.calendar_words import (
    ABBREVIATED,
    AFTER,
    ALSO_OTHER,
    BEFORE,
    END,
    LEADING,
    MONTHS,
    NOT,
    START,
    TIMES,
    WEEKDAYS,
    Span,
    folded,
)

_YEAR = 2024
"""A leap year: each day of any year is in it."""
_NEAR = timedelta(days=42)
"""So long before or after a day is "before" or "after" it."""
_WORD = re.compile(r"[dl]'(?=[a-z])|[a-z0-9]+(?:['-][a-z]+)*")
_IN_NUMBERS = re.compile(
    r"\b\d{4}-(?P<month>\d\d)-(?P<day>\d\d)\b|(?<![\d.,/:])(?P<first>\d{1,2})\.(?P<second>\d{1,2})\."
)
_DAY = re.compile(r"(\d{1,2})(?:st|nd|rd|th|er)?")
_BEGINNING = re.compile(r"\s*([a-z]{2,4})\s*[.:]")
_ARTICLES = "the of a an de la el los las der die das des dem den du l le les in am im en au aux d' l'"
_LITTLE = frozenset(_ARTICLES.split())
_LONGEST_NAME = 4
MOST_LOOKED_AT = 2_000
"""Letters of a text that are looked at: a date stands where it begins."""

Days = tuple[int, int]
"""The first and the last day, from 0 to 365; the last may come earlier in the year."""


class Times(Struct, frozen=True):
    """Days of the year, days of the week from 1, and whether it was said that it was not then."""

    days: tuple[Days, ...] = ()
    weekdays: frozenset[int] = frozenset()
    is_negated: bool = False

    def __bool__(self) -> bool:
        return bool(self.days or self.weekdays)

    def meets(self, other: "Times") -> bool:
        """True if both may be of one day."""
        if self.weekdays and other.weekdays:
            return bool(self.weekdays & other.weekdays)
        return any(_overlap(one, another) for one in self.days for another in other.days)


def times_of(text: str) -> Times:
    """The times that a text names."""
    said = folded(text[:MOST_LOOKED_AT])
    days = list(_in_numbers(said))
    weekdays: set[int] = set()
    # "Mar" is a month and a day of the week; a diary begins with the day.
    if (begins := _BEGINNING.match(said)) and begins[1] in ABBREVIATED:
        weekdays.add(ABBREVIATED[begins[1]])
        said = said[begins.end() :]
    words = _WORD.findall(_IN_NUMBERS.sub(" ", said.replace("\u2019", "'")))
    is_negated = False
    for place, time in _named(words):
        before = [word for word in words[max(0, place - 4) : place] if word not in _LITTLE][-2:]
        is_negated = is_negated or bool(NOT.intersection(before))
        if isinstance(time, int):
            weekdays.add(time)
        else:
            days.append(_moved(time, before[-1] if before else ""))
    return Times(tuple(dict.fromkeys(days)), frozenset(weekdays), is_negated)


def _in_numbers(said: str) -> Iterator[Days]:
    for found in _IN_NUMBERS.finditer(said):
        month, day = int(found["month"] or found["second"]), int(found["day"] or found["first"])
        if 1 <= month <= 12 and 1 <= day <= 31:
            yield _numbers(_date(month, day), _date(month, day))


def _named(words: list[str]) -> Iterator[tuple[int, Span | int]]:
    """The places of the names of times, each with its time: days of the year, or the number of a day of the week."""
    at = 0
    while at < len(words):
        if not _is_meant(words, at):
            at += 1
            continue
        names = ((length, " ".join(words[at : at + length])) for length in range(_LONGEST_NAME, 0, -1))
        found = next(((length, TIMES[name]) for length, name in names if name in TIMES), None)
        if found:
            yield at, found[1]
        elif (word := words[at]) in WEEKDAYS:
            yield at, WEEKDAYS[word]
        elif word in MONTHS:
            yield at, _in_month(words, at)
        at += found[0] if found else 1


def _is_meant(words: list[str], at: int) -> bool:
    """False for a verb or a name that is written like a time, unless a day or a preposition stands beside it."""
    before = words[max(0, at - 1) : at]
    return words[at] not in ALSO_OTHER or bool(LEADING.intersection(before)) or _day_beside(words, at) is not None


def _in_month(words: list[str], at: int) -> Span:
    month, day = MONTHS[words[at]], _day_beside(words, at)
    return ((month, day), (month, day)) if day else ((month, 1), (month, 31))


def _day_beside(words: list[str], at: int) -> int | None:
    before = [word for word in words[max(0, at - 2) : at] if word not in _LITTLE][-1:]
    for word in (*before, *words[at + 1 : at + 2]):
        if (number := _DAY.fullmatch(word)) and 1 <= int(number[1]) <= 31:
            return int(number[1])
    return None


def _moved(span: Span, word: str) -> Days:
    first, last = (_date(*each) for each in span)
    if word in BEFORE:
        return _numbers(first - _NEAR, first - timedelta(days=1))
    if word in AFTER:
        return _numbers(last + timedelta(days=1), last + _NEAR)
    if word in START and first != last:
        return _numbers(first, first + timedelta(days=10))
    if word in END and first != last:
        return _numbers(last - timedelta(days=10), last)
    return _numbers(first, last)


def _date(month: int, day: int) -> date:
    """A day of the year; the last one of its month if it has fewer."""
    try:
        return date(_YEAR, month, day)
    except ValueError:
        return _date(month, day - 1)


def _numbers(first: date, last: date) -> Days:
    return first.timetuple().tm_yday - 1, last.timetuple().tm_yday - 1


def _overlap(one: Days, another: Days) -> bool:
    return any(a[0] <= b[1] and b[0] <= a[1] for a in _unwrapped(one) for b in _unwrapped(another))


def _unwrapped(days: Days) -> list[Days]:
    first, last = days
    return [days] if first <= last else [(first, 365), (0, last)]
