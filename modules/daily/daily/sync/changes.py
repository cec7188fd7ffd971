"""Events of the entries that a push has changed."""

import datetime
from collections.abc import Iterator

from daily.days.day import Day, Entry
from daily.journal.documents import audio_of, id_of
from daily.journal.publishing import CREATED, DELETED, UPDATED, entry_event
from daily.journal.state import PendingEvent

_DAYS = 31


def events_of(date: str, before: Day, after: Day) -> Iterator[PendingEvent]:
    """Events of one day; none for old ones, since the first push of a device has years of them."""
    age = datetime.date.today() - datetime.date.fromisoformat(date)
    if abs(age.days) > _DAYS:
        return
    old, new = _entries(before), _entries(after)
    for key, entry in new.items():
        if key not in old:
            yield entry_event(CREATED, id_of(key), entry.content, audio_of(entry))
        elif (old[key].title, old[key].content) != (entry.title, entry.content):
            yield entry_event(UPDATED, id_of(key), entry.content, audio_of(entry))
    for key in old:
        if key not in new:
            yield PendingEvent(0, DELETED, {"entry_id": id_of(key)})


def _entries(day: Day) -> dict[str, Entry]:
    return {entry.key: entry for entry in day.entries if entry.key}
