"""Paths of the journal's files, and the day that each is about."""

import datetime
import re
from collections.abc import Iterator

from parachute.core import InvalidInput

ROOT = "Daily"
JOURNALS = f"{ROOT}/journals"
REFLECTIONS = f"{ROOT}/reflections"
ASSETS = f"{ROOT}/assets"
FIRST, LAST = "0001-01-01", "9999-12-30"
CONFLICT = ".conflict-"

_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_FILE = re.compile(rf"{JOURNALS}/({_DATE.pattern})(\.[^/]+)?\.md")
_MOST_FILES = 7


def checked_date(text: str, field: str = "date") -> str:
    """A date as YYYY-MM-DD; error: InvalidInput."""
    if _is_date(text):
        return text
    raise InvalidInput(f"{field}: a date such as 2024-01-15 is expected, not {text[:40]!r}.", key="invalid_date")


def date_of(path: str) -> str | None:
    """The day that a file of the journal is about; None for all other files, and for conflict copies."""
    found = _FILE.fullmatch(path)
    return found[1] if found and _is_date(found[1]) and CONFLICT not in path else None


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
