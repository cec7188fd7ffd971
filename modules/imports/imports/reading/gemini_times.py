"""Times of Google's activities in HTML, which are written in the language of the account: `Apr 12, 2026, 3:34:31 PM EDT`."""

import re
import unicodedata
from datetime import datetime, timedelta, timezone

from imports.reading.conversation import moment

LINE = re.compile(
    r"\s*([^<>:]{6,40}?)[\s,]+(\d{1,2}):(\d\d):(\d\d)"
    r"(?:\s*([AaPp])\.?\s?[Mm]\.?)?(?:\s*([A-Za-z]{1,5}(?:[+-]\d{1,2}(?::?\d\d)?)?|[+-]\d\d:?\d\d))?\s*(?=<|$)"
)
"""A line that is such a time, up to its end or the first tag."""

_MONTHS = {
    1: "jan gen ene",
    2: "feb fev",
    3: "mar mrt",
    4: "apr abr avr",
    5: "may mai mag mei",
    6: "jun juin giu",
    7: "jul juil lug",
    8: "aug ago aou",
    9: "sep set",
    10: "oct okt out ott",
    11: "nov",
    12: "dec dez dic",
}
_HOURS = {
    **{"UTC": 0, "GMT": 0, "Z": 0, "WET": 0, "WEST": 1, "BST": 1, "CET": 1, "MEZ": 1, "CEST": 2, "MESZ": 2},
    **{"EET": 2, "EEST": 3, "MSK": 3, "JST": 9, "KST": 9, "AEST": 10, "AEDT": 11, "BRT": -3, "EDT": -4, "EST": -5},
    **{"CDT": -5, "CST": -6, "MDT": -6, "MST": -7, "PDT": -7, "PST": -8},
}
_OFFSET = re.compile(r"[A-Za-z]*([+-])(\d{1,2}):?(\d\d)?")


def time_of(found: re.Match[str]) -> str | None:
    """The time in UTC as far as its zone is known, which else counts as UTC; None for a day that nobody can tell."""
    day = day_of(found[1])
    if day is None:
        return None
    hour = int(found[2]) % 12 + (12 if found[5] in ("p", "P") else 0) if found[5] else int(found[2])
    try:
        local = datetime(*day, hour, int(found[3]), int(found[4]), tzinfo=_zone(found[6] or "", found[1]))
        return moment(local.isoformat())
    except (ValueError, OverflowError):
        return None


def day_of(text: str) -> tuple[int, int, int] | None:
    """Year, month and day of a date in one of some languages; None for what is none."""
    numbers = re.findall(r"\d+", text)
    year = next((int(each) for each in numbers if len(each) == 4), None)
    rest = [int(each) for each in numbers if len(each) <= 2]
    if year is None:
        return None
    if len(rest) == 2:
        return (year, *rest) if len(numbers[0]) == 4 else (year, *reversed(rest))  # type: ignore[return-value]
    plain = unicodedata.normalize("NFKD", text.casefold())
    words = ["".join(letter for letter in word if letter.isalpha()) for word in plain.split()]
    months = [month for word in words for month, names in _MONTHS.items() if word.startswith(tuple(names.split()))]
    # Of a day of the week that begins like a month, such as mardi, the month stands behind it.
    return (year, months[-1], rest[0]) if len(rest) == 1 and months else None


def _zone(name: str, day: str) -> timezone:
    hours = 8 if name == "CST" and "年" in day else _HOURS.get(name.upper(), 0)
    if found := _OFFSET.fullmatch(name):
        sign = -1 if found[1] == "-" else 1
        return timezone(sign * timedelta(hours=int(found[2]), minutes=int(found[3] or 0)))
    return timezone(timedelta(hours=hours))
