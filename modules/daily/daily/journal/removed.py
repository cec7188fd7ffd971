"""Entries that were removed, as the versions of their day's file still have them."""

from daily.days.day import Day
from daily.days.headings import key_of
from daily.sync.versions import Versions
from parachute.core import InvalidInput, NotFound

_MOST = 50


async def last_with(versions: Versions, path: str, entry_id: str) -> Day | None:
    """The newest version of a file that has an entry, as the day that it was; None if none has."""
    key = key_of(entry_id)
    for version in await versions.all(path, _MOST) if key else []:
        try:
            _, pieces = await versions.get(version.number)
            day = Day.parse(b"".join([piece async for piece in pieces]))
        except (InvalidInput, NotFound):
            continue  # no day, or dropped meanwhile; an older one may do
        if day.entry(key or "") is not None:
            return day
    return None
