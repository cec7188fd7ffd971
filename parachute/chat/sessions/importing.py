"""Sessions that come from elsewhere: stored with the times they have, and without telling anybody."""

import asyncio
from collections.abc import Sequence

from parachute.base.errors import InvalidInput
from parachute.chat.sessions.imported import IMPORT, imported_texts
from parachute.chat.sessions.models import Session, is_session_id
from parachute.chat.sessions.search_index import INDEXED_TEXT
from parachute.chat.sessions.service import Sessions
from parachute.chat.sessions.store import SessionStore

_TEXTS = 4_000_000
"""Characters of one conversation that the search knows; more would hold others up for seconds."""


class ImportedSessions:
    """Adds sessions whose transcripts an import has put in their places, and finds them again."""

    def __init__(self, sessions: Sessions, store: SessionStore) -> None:
        self.sessions = sessions
        self.transcripts = sessions.transcripts
        self._store = store

    async def add(self, found: Sequence[Session]) -> list[str]:
        """Store them, all or none; the ids of those that were not there. Error: InvalidInput.

        No event tells of them: what hooks and modules do for a new conversation is not for five years of old ones.
        """
        if not all(is_session_id(session.id) and session.trust_level == "sandboxed" for session in found):
            raise InvalidInput(
                "sessionId: expected 1 to 64 letters, digits, `-` and `_`, and a sandboxed session.",
                key="invalid_session_id",
            )
        texts = await asyncio.to_thread(lambda: [self._texts(session.id) for session in found])
        added = await self._store.insert_imported(zip(found, texts, strict=True))
        for session in added:
            self.sessions.listing.changed(words_of=session)
        return added

    async def ids(self) -> list[str]:
        """The ids of all sessions."""
        return await self._store.ids()

    async def brought_by(self, import_id: str) -> list[Session]:
        """The sessions of an import that are still here."""
        return await self._store.imported(import_id)

    def is_untouched(self, session: Session) -> bool:
        """Return True if nothing was said in a session since it was imported."""
        known = session.metadata.get(IMPORT)
        brought = known.get("messages") if isinstance(known, dict) else None
        return session.message_count == brought and self.transcripts.find(session.id) is None

    def _texts(self, session: str) -> list[tuple[str, str]]:
        texts, size = [], 0
        for kind, text in imported_texts(self.transcripts.imported_events(session), INDEXED_TEXT):
            size += len(text)
            if size > _TEXTS:
                break
            texts.append((kind, text))
        return texts
