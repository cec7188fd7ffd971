"""Intents of approved suggestions, recorded before the write: after a kill they show whether it was done."""

import asyncio

from parachute.core.storage import Storage

_KEY = "begun suggestions"
_KEPT = 100


class Intents:
    """Intents of the newest suggestions by their ids; each is on the disk before the change is."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage
        self._lock = asyncio.Lock()

    async def record(self, suggestion: str, **facts: str) -> None:
        """Record the facts by which a change can be recognized."""
        async with self._lock:
            known = await self._storage.get(_KEY, {})
            known[suggestion] = facts
            await self._storage.set(_KEY, dict(list(known.items())[-_KEPT:]))

    async def find(self, suggestion: str) -> dict[str, str]:
        """The facts of a suggestion, none if it had not come so far."""
        facts: dict[str, str] = (await self._storage.get(_KEY, {})).get(suggestion, {})
        return facts
