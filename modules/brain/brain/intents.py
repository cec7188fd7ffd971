"""What approved suggestions were about to write, so that after a kill it can be told whether they did."""

import asyncio

from parachute.core.storage import Storage

_KEY = "begun suggestions"
_KEPT = 100


class Begun:
    """Notes of the newest suggestions by their ids; each is on the disk before the change is."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage
        self._lock = asyncio.Lock()

    async def note(self, suggestion: str, **facts: str) -> None:
        """Keep what will tell that the change was made."""
        async with self._lock:
            known = await self._storage.get(_KEY, {})
            known[suggestion] = facts
            await self._storage.set(_KEY, dict(list(known.items())[-_KEPT:]))

    async def of(self, suggestion: str) -> dict[str, str]:
        """What was noted, nothing if the suggestion had not come so far."""
        facts: dict[str, str] = (await self._storage.get(_KEY, {})).get(suggestion, {})
        return facts
