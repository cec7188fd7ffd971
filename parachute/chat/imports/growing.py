"""Conversations that went on where they come from: a later import puts more of them in the place of what an earlier one brought."""

import asyncio
from functools import partial

from parachute.chat.imports.arriving import Arriving
from parachute.chat.imports.attached import AttachedFiles
from parachute.chat.sessions.importing import ImportedSessions


class Growing:
    """Lets them grow, and takes that back; what was there before is kept beside the record of the import."""

    def __init__(self, attached: AttachedFiles, sessions: ImportedSessions) -> None:
        self._folders = attached.folders
        self._attached = attached
        self._sessions = sessions

    async def grow(self, import_id: str, arriving: Arriving, here: set[str]) -> list[str]:
        """Place what has come of conversations that were here; the ids of those that nobody has gone on with."""
        grown = []
        for each in (each for each in arriving.sessions if each.id in here & arriving.growing):
            if (staged := arriving.staged.get(each.id)) is not None:
                place = partial(self._place, import_id, staged, each.id)
                try:
                    if await self._sessions.grow(import_id, each, place):
                        grown.append(each.id)
                except BaseException:
                    await self._settle(import_id, each.id)
                    raise
        return grown

    async def take_back(self, import_id: str) -> tuple[int, list[str]]:
        """Restore what was there before an import: how many, and the names of those that somebody has gone on with since."""
        count, kept = 0, []
        for identifier in await asyncio.to_thread(self._folders.grown, import_id):
            session = await self._sessions.sessions.find(identifier)
            if session is None or not await self._settle(import_id, identifier):
                continue
            put_back = partial(self._put_back, import_id, identifier)
            if await self._sessions.has_grown(import_id, identifier) and await self._sessions.shrink(
                import_id, identifier, put_back
            ):
                count += 1
            else:
                kept.append(session.title or session.id)
        return count, kept

    async def settle(self, import_id: str) -> int:
        """Restore what an import has placed and not stored, or an undo stored and not placed, when it was interrupted.

        How many have grown by the import.
        """
        grown = 0
        for identifier in await asyncio.to_thread(self._folders.grown, import_id):
            if await self._settle(import_id, identifier):
                # It may have ended between the row and the index.
                await self._sessions.sessions.search_index.update(identifier)
                grown += 1
        return grown

    async def _settle(self, import_id: str, identifier: str) -> bool:
        """Return whether a session has grown by an import; what was placed and not stored is as before then."""
        # A later import may have added to it since.
        if await self._sessions.has_grown(import_id, identifier, last=False):
            return True
        if await self._sessions.sessions.find(identifier) is None:
            await asyncio.to_thread(self._sessions.transcripts.forget_before, identifier)
        elif identifier in await asyncio.to_thread(self._folders.grown, import_id):
            await self._sessions.restore(import_id, identifier, partial(self._put_back, import_id, identifier))
        return False

    def _place(self, import_id: str, staged: int, identifier: str) -> None:
        # Files first: no message names one that is not there.
        self._attached.place(import_id, identifier)
        self._folders.grow_transcript(import_id, staged, identifier)

    def _put_back(self, import_id: str, identifier: str) -> None:
        brought = self._attached.named(identifier)
        self._folders.put_back(import_id, identifier)
        self._attached.remove_files(identifier, brought - self._attached.named(identifier))
