"""The words of conversations in the index of the search."""

import asyncio

from parachute.chat.sessions.imported import IMPORTED_KINDS, imported_texts
from parachute.chat.sessions.listing import SessionList
from parachute.chat.sessions.messages import assistant_text, user_text
from parachute.chat.sessions.models import is_session_id
from parachute.chat.sessions.store import SessionStore
from parachute.chat.sessions.transcripts import Transcripts

INDEXED_TEXT = 100_000
"""Characters of one message."""


class SearchIndex:
    """Makes the index anew from titles and transcripts, and reads it."""

    def __init__(self, store: SessionStore, transcripts: Transcripts, listing: SessionList) -> None:
        self._store = store
        self._transcripts = transcripts
        self._listing = listing

    async def words(self, session: str) -> str:
        """The texts of a conversation, in order."""
        texts = await self._store.words.of(session)
        said = (pair for pair in texts if pair[0] != "title" and pair[0] not in IMPORTED_KINDS.values())
        return "\n\n".join(f"{kind}: {text}" for kind, text in said)

    async def rebuild(self) -> int:
        """Make all of it anew; the number of sessions read."""
        ids = [session for session in await self._store.ids() if is_session_id(session)]
        await self._store.words.clear()
        for session in ids:
            await self.update(session)
        return len(ids)

    async def update(self, session: str, *, before: str | None = None) -> None:
        """Make what it has of one session anew; `before` an import that is taken back: with what it brought as it was then."""
        found = await self._store.get(session)
        texts = await asyncio.to_thread(self._texts, session, before)
        await self._store.words.replace(session, [("title", (found.title or "") if found else ""), *texts])
        self._listing.changed(words_of=session)

    def _texts(self, session: str, before: str | None) -> list[tuple[str, str]]:
        self._transcripts.prepare(session)
        texts = imported_texts(self._transcripts.imported_events(session, before), INDEXED_TEXT)
        for event in self._transcripts.own_events(session):
            if text := user_text(event) or assistant_text(event):
                texts.append((event["type"], text[:INDEXED_TEXT]))
        return texts
