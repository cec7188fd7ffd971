"""The same day in earlier years, and for who has none yet, a month and a week ago."""

import calendar
import datetime
from typing import Literal, NamedTuple


class Earlier(NamedTuple):
    """A day, and how long ago it is."""

    date: str
    unit: Literal["year", "month", "week"]
    number: int


def earlier_days(date: str, first_year: int | None) -> tuple[list[Earlier], list[Earlier]]:
    """The same day of each year since the first one, the last one first; and the days a month and a week ago.

    The 29th of February belongs to the 28th as well in years that have none.
    """
    day = datetime.date.fromisoformat(date)
    years: list[Earlier] = []
    for count in range(1, day.year - (first_year or day.year) + 1):
        year = day.year - count
        leaps = (day.month, day.day) == (2, 28) and not calendar.isleap(day.year) and calendar.isleap(year)
        same = [29, 28] if leaps else [day.day]
        years += [
            Earlier(f"{year:04}-{day.month:02}-{each:02}", "year", count)
            for each in same
            if each <= calendar.monthrange(year, day.month)[1]
        ]
    return years, [*_month_before(day), *_week_before(day)]


def _month_before(day: datetime.date) -> list[Earlier]:
    last = day.replace(day=1).toordinal() - 1
    if last < 1:
        return []
    before = datetime.date.fromordinal(last)
    return [Earlier(before.replace(day=min(day.day, before.day)).isoformat(), "month", 1)]


def _week_before(day: datetime.date) -> list[Earlier]:
    return (
        [Earlier(datetime.date.fromordinal(day.toordinal() - 7).isoformat(), "week", 1)] if day.toordinal() > 7 else []
    )
