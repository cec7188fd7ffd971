"""Watching over the vault of a running server: it may be pulled out."""

import asyncio
import logging
from collections.abc import Awaitable, Callable

from parachute.base.clock import SYSTEM, Clock
from parachute.config.vault.place import VaultPlace

log = logging.getLogger(__name__)

_SECONDS = 2.0


class VaultWatch:
    """Calls `lost` once when the vault is gone; from then on nothing may be written, since it would be in its place."""

    def __init__(self, place: VaultPlace, lost: Callable[[], Awaitable[None]], clock: Clock = SYSTEM) -> None:
        self._place = place
        self._clock = clock
        self._lost = lost
        self._watching: asyncio.Task[None] | None = None
        self._ending: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begin to look every two seconds."""
        self._watching = asyncio.create_task(self._watch(), name="vault")

    async def close(self) -> None:
        """End looking."""
        if self._watching is not None:
            self._watching.cancel()
            await asyncio.gather(self._watching, return_exceptions=True)

    def check(self) -> None:
        """Look now; error: VaultMissing."""
        if self._ending is not None or not self._place.is_there():
            self._end()
            raise self._place.missing()

    async def _watch(self) -> None:
        while await asyncio.to_thread(self._place.is_there):
            await self._clock.sleep(_SECONDS)
        self._end()

    def _end(self) -> None:
        if self._ending is None:
            log.error("%s", self._place.missing())
            self._ending = asyncio.ensure_future(self._lost())
