"""Forgetting the oldest runs, whole ones only, and the contents that only they named."""

import asyncio
from datetime import datetime

from parachute.base.clock import as_text
from parachute.changes.applying import Places


async def prune(places: Places, since: datetime, limit: int, snapshots: set[str]) -> None:
    """Keep the runs since then, in so many bytes, and what waits; the newest one stays, however large it is.

    `snapshots` are the contents that snapshots name: they stay, and count with the runs that name them.
    """
    oldest = as_text(since)
    sizes, named = await asyncio.to_thread(places.blobs.sizes), await places.store.hashes()
    ended = dict(await places.store.ended_sets())
    counted = set[str]().union(*(hashes for number, hashes in named.items() if number not in ended))
    total = sum(sizes.get(each, 0) for each in counted)
    gone: list[int] = []
    for place, (number, ended_at) in enumerate(sorted(ended.items(), reverse=True)):
        more = named.get(number, set()) - counted
        total += sum(sizes.get(each, 0) for each in more)
        if gone or ended_at <= oldest or (total > limit and place):
            gone.append(number)
        else:
            counted |= more
    await places.store.remove(gone)
    await asyncio.to_thread(places.blobs.remove_all_but, counted | snapshots)
