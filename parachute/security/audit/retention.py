"""Removing the oldest days of the audit log, whole ones only; their seals stay."""

from parachute.security.audit.days import Days
from parachute.security.audit.seals import Seals

KEEP_DAYS, KEEP_MEGABYTES = 90, 500


def remove_old(days: Days, seals: Seals | None, keep_days: int, megabytes: int) -> list[str]:
    """Keep the newest days on which anything was recorded, in so many megabytes; returns those that were removed.

    They are counted, and not compared with the clock: one that is wrong for a minute would cost all of them. Those that this
    computer has not written do not count: whoever put them there would have the others removed.
    """
    total, gone = 0, list[str]()
    known = seals.read() if seals is not None else {}
    counted = [day for day in days.names() if not known or day in known or day < min(known)]
    for place, day in enumerate(reversed(counted)):
        total += days.size(day)
        if place and (gone or place >= keep_days or total > megabytes << 20):
            gone.append(day)
    if gone and seals is not None:
        seals.mark_removed(gone)  # first: a day that is missing without it is an alarm
    for day in gone:
        days.remove(day)
    return gone
