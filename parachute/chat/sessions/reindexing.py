"""Texts of an older search index, stored anew as words of every script are found in them."""

import asyncio
import logging

from parachute.base.errors import ParachuteError
from parachute.chat.sessions.listing import SessionList
from parachute.chat.sessions.store import SessionStore

log = logging.getLogger(__name__)


class Reindexing:
    """Goes through an index that is there from before, in the background; the next start goes on where this one stopped."""

    def __init__(self, store: SessionStore, listing: SessionList) -> None:
        self._store = store
        self._listing = listing
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begin; what was not reached yet is found as before."""
        self._task = asyncio.create_task(self.run(), name="reindexing of conversations")

    async def close(self) -> None:
        """Stop."""
        if self._task:
            self._task.cancel()
            await asyncio.wait({self._task})

    async def run(self) -> None:
        """Go through all that is left."""
        try:
            is_changed = False
            while await self._store.words.reindex():
                is_changed = True
            if is_changed:
                self._listing.changed()
        except ParachuteError as error:
            log.error("Some conversations are not found by words in every script yet: %s", error)
