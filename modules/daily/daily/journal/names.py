"""Paths of the journal's files, and the day that each is about."""

import datetime
import re
from collections.abc import Iterator

from parachute.core import InvalidInput
from parachute.core.conflict_copies import original_of

ROOT = "Daily"
JOURNALS = f"{ROOT}/journals"
REFLECTIONS = f"{ROOT}/reflections"
ASSETS = f"{ROOT}/assets"
FIRST, LAST = "0001-01-01", "9999-12-30"
CONFLICT = ".conflict-"

_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_FILE = re.compile(rf"{JOURNALS}/({_DATE.pattern})(\.[^/]+)?\.md")
_DAY_IN_A_NAME = re.compile(r"(?<![0-9])([0-9]{4})[-_./ ]?([0-9]{2})[-_./ ]?([0-9]{2})(?![0-9])")
"""As Logseq and Obsidian name days: 2024_01_15, 2024-01-15 Monday, 2024/01/15."""
_MOST_FILES = 7


def checked_date(text: str, field: str = "date") -> str:
    """A date as YYYY-MM-DD; error: InvalidInput."""
    if _is_date(text):
        return text
    raise InvalidInput(f"{field}: a date such as 2024-01-15 is expected, not {text[:40]!r}.", key="invalid_date")


def date_of(path: str) -> str | None:
    """The day that a file of the journal is about; None for all other files, and for conflict copies."""
    found = _FILE.fullmatch(path)
    return found[1] if found and _is_date(found[1]) and original_of(path) is None else None


def day_meant(path: str) -> str | None:
    """The day that the name of a file means to people which is not read; None for all other files."""
    inside = path.removeprefix(f"{JOURNALS}/")
    if date_of(path) or original_of(path) or any(part.startswith(".") for part in inside.split("/")):
        return None
    found = [f"{year}-{month}-{day}" for year, month, day in _DAY_IN_A_NAME.findall(inside)]
    return next((date for date in reversed(found) if _is_date(date)), None)


def files_of(date: str) -> Iterator[str]:
    """The file of a day, and those that take its place when it cannot be changed."""
    yield f"{JOURNALS}/{date}.md"
    yield f"{JOURNALS}/{date}.more.md"
    for number in range(2, _MOST_FILES):
        yield f"{JOURNALS}/{date}.more-{number}.md"


def _is_date(text: str) -> bool:
    if not _DATE.fullmatch(text) or not FIRST <= text <= LAST:
        return False
    try:
        datetime.date.fromisoformat(text)
    except ValueError:
        return False
    return True
