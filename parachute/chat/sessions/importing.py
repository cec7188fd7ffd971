"""Sessions that come from elsewhere: stored with the times they have, and without telling anybody."""

import asyncio
from collections.abc import Callable, Sequence

from parachute.base.errors import InvalidInput
from parachute.chat.sessions.imported import IMPORT, IMPORTED_KINDS, imported_texts, session_of
from parachute.chat.sessions.messages import assistant_text, user_text
from parachute.chat.sessions.models import Session, is_session_id
from parachute.chat.sessions.search_index import INDEXED_TEXT
from parachute.chat.sessions.service import Sessions
from parachute.chat.sessions.store import SessionStore
from parachute.core.sessions import Brought, BroughtMessage, digest

_TEXTS = 4_000_000
"""Characters of one conversation that the search knows; more would hold others up for seconds."""

_CHOSEN = ("title", "pinned", "archived", "workspace_id", "model", "trust_level")
"""Columns that a person sets."""


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

    async def fingerprints(self) -> dict[str, str]:
        """The fingerprints of what imports brought, by the ids of the sessions."""
        return await self._store.fingerprints()

    async def brought_by(self, import_id: str) -> list[Session]:
        """The sessions of an import that are still here."""
        return await self._store.imported(import_id)

    def is_untouched(self, session: Session) -> bool:
        """Return True if nothing was said in a session since it was imported."""
        known = session.metadata.get(IMPORT)
        brought = known.get("messages") if isinstance(known, dict) else None
        return session.message_count == brought and self.transcripts.find(session.id) is None

    async def is_as_brought(self, session: Session) -> bool:
        """Return True if a session is as imports left it: nothing was said in it, and nobody has sorted, named or set it."""
        known = session.metadata.get(IMPORT)
        # What the first import said of one that has grown holds as well.
        grown = known.get("grown") if isinstance(known, dict) else None
        imports = [None, *(grown[:1] if isinstance(grown, list) else ())]
        origins = await asyncio.to_thread(lambda: [self.transcripts.origin(session.id, each) for each in imports])
        brought = [session_of(each, session.id) for each in origins if each is not None]
        # Of one without any, an undo that was interrupted has removed what was brought.
        return self.is_untouched(session) and all(
            not brought or getattr(session, name) in [getattr(each, name) for each in brought] for name in _CHOSEN
        )

    async def brought(self, session: str) -> Brought | None:
        """Return what an import brought of a session; None for one that no import brought."""
        found = await self.sessions.find(session)
        if found is None or not self._is_brought(found):
            return None
        origin, messages = await asyncio.to_thread(self._messages, session)
        return Brought(self.is_untouched(found), session_of(origin, session).updated_at, messages) if origin else None

    async def grow(self, import_id: str, now: Session, place: Callable[[], None]) -> bool:
        """Let `place` put more of a session in the place of what was brought before; False where somebody went on with it here."""
        found = await self.sessions.find(now.id)
        before = await asyncio.to_thread(self.transcripts.origin, now.id)
        if found is None or not before or not (self._is_brought(found) and self.is_untouched(found)):
            return False
        if found.source != now.source:
            return False
        await asyncio.to_thread(place)
        title = session_of(before, now.id).title

        def change(row: Session) -> None:
            known = row.metadata[IMPORT]
            grown = [*known.get("grown", []), import_id]
            row.metadata = {**row.metadata, IMPORT: {**known, **_counted(now), "grown": grown}}
            # What was said here meanwhile counts as before.
            row.message_count += now.message_count - known["messages"]
            row.updated_at = max(row.updated_at, now.updated_at)
            row.title = now.title if now.title and row.title == title else row.title

        await self._store.update(now.id, change)
        await self.sessions.search_index.update(now.id)
        return True

    async def has_grown(self, import_id: str, session: str, *, last: bool = True) -> bool:
        """Return True for a session that grew by this import, and by no later one if it was the `last`."""
        found = await self.sessions.find(session)
        grown = found.metadata.get(IMPORT, {}).get("grown", []) if found else []
        return import_id in (grown[-1:] if last else grown)

    async def shrink(self, import_id: str, session: str, put_back: Callable[[], None]) -> bool:
        """Let `put_back` restore what was there before a session grew last; False where somebody went on with it here."""
        found = await self.sessions.find(session)
        kept = await asyncio.to_thread(self.transcripts.origin, session, import_id)
        if found is None or kept is None or not self.is_untouched(found):
            return False
        before, now = session_of(kept, session), await asyncio.to_thread(self.transcripts.origin, session)
        title = session_of(now or {}, session).title

        def change(row: Session) -> None:
            known = row.metadata[IMPORT]
            row.metadata = {**row.metadata, IMPORT: {**known, **_counted(before), "grown": known["grown"][:-1]}}
            row.message_count, row.updated_at = before.message_count, before.updated_at
            row.title = before.title if row.title == title else row.title

        await self._store.update(session, change)
        await self.restore(import_id, session, put_back)
        return True

    async def restore(self, import_id: str, session: str, put_back: Callable[[], None]) -> None:
        """Let `put_back` restore what was there before an import, of a session whose row does not say that it has grown by it.

        Last of all: as long as something is kept, an import that was interrupted is settled by this.
        """
        await self.sessions.search_index.update(session, before=import_id)
        await asyncio.to_thread(put_back)

    def _is_brought(self, session: Session) -> bool:
        return isinstance(session.metadata.get(IMPORT), dict) and "messages" in session.metadata[IMPORT]

    def _messages(self, session: str) -> tuple[dict[str, object] | None, list[BroughtMessage]]:
        said = []
        for event in self.transcripts.imported_events(session):
            if event["type"] in IMPORTED_KINDS:
                text = event.get("said", user_text(event) or assistant_text(event) or "")
                files = len(event.get("attachments", ()))
                name, time = event.get("original"), event.get("timestamp")
                said.append(BroughtMessage(name, event["type"], time, digest(text), files))
        return self.transcripts.origin(session), said

    def _texts(self, session: str) -> list[tuple[str, str]]:
        texts, size = [], 0
        for kind, text in imported_texts(self.transcripts.imported_events(session), INDEXED_TEXT):
            size += len(text)
            if size > _TEXTS:
                break
            texts.append((kind, text))
        return texts


def _counted(session: Session) -> dict[str, object]:
    """Number and fingerprint of the messages that an import brought."""
    return {name: session.metadata[IMPORT].get(name) for name in ("messages", "fingerprint")}
