"""Rows of sessions made anew from their transcripts, for a list that was lost."""

import asyncio
import contextlib
import logging
import sqlite3

from parachute.base.clock import now
from parachute.base.errors import ParachuteError
from parachute.chat.sessions.imported import session_of
from parachute.chat.sessions.messages import assistant_text, user_text
from parachute.chat.sessions.models import MODULE, SHORT_TITLE, Session
from parachute.chat.sessions.service import Sessions
from parachute.chat.sessions.store import SessionStore
from parachute.chat.sessions.trust_store import TrustStore

log = logging.getLogger(__name__)


class Rebuilding:
    """Adds what is in no list; what is there stays. Lost is what no transcript has, such as a folder."""

    def __init__(self, sessions: Sessions, store: SessionStore, trust: TrustStore) -> None:
        self._sessions = sessions
        self._store = store
        self._trust = trust
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begin; whoever asks meanwhile sees what is there already."""
        self._task = asyncio.create_task(self._run(), name="rebuilding the list of sessions")

    async def close(self) -> None:
        """Stop; the next start goes on."""
        if self._task:
            self._task.cancel()
            await asyncio.wait({self._task})

    async def _run(self) -> None:
        try:
            await self.run()
        except ParachuteError as error:
            log.error("The list of conversations is not complete: %s", error)

    async def run(self) -> int:
        """Add the sessions that have a transcript and no row; how many."""
        await self._store.set_rebuilt(False)
        known = set(await self._store.ids())
        transcripts = self._sessions.transcripts
        found = await asyncio.to_thread(lambda: {*transcripts.ids(), *transcripts.imported_ids()})
        direct = await self._trust.direct_sessions()
        added = 0
        for identifier in sorted((found | direct) - known):
            if session := await asyncio.to_thread(self._session, identifier):
                await self._add(session, is_direct=identifier in direct)
                added += 1
        await self._store.set_rebuilt(True)
        if added:
            log.warning("%d conversations are in the list again, from their transcripts.", added)
        return added

    async def _add(self, session: Session, *, is_direct: bool) -> None:
        session.trust_level = "direct" if is_direct else "sandboxed"
        session.workspace_id = await self._trust.workspace(session.id)
        if place := await self._trust.place(session.id):
            session.working_directory = place.folder
        if owner := await self._trust.owner(session.id):
            session.metadata[MODULE] = owner.module
            session.agent_name = owner.agent or None
            session.archived = True
        with contextlib.suppress(sqlite3.IntegrityError):  # somebody has made it meanwhile
            await self._store.insert(session)
        await self._sessions.search_index.update(session.id)

    def _session(self, identifier: str) -> Session | None:
        """Make a session from its transcript; None for one in which nothing was said."""
        if origin := self._sessions.transcripts.origin(identifier):
            said = self._sessions.transcripts.own_events(identifier)
            return session_of(
                origin, identifier, more=sum(bool(user_text(each) or assistant_text(each)) for each in said)
            )
        times: list[str] = []
        title, count = None, 0
        for event in self._sessions.transcripts.events(identifier):
            asked = user_text(event)
            if asked or assistant_text(event):
                count += 1
                title = title or (asked and " ".join(asked.split())[:SHORT_TITLE])
                if isinstance(time := event.get("timestamp"), str):
                    times = [*times[:1], time]
        if not count:
            return None
        moment = now()
        return Session(
            id=identifier,
            created_at=times[0] if times else moment,
            updated_at=times[-1] if times else moment,
            title=title or None,
            message_count=count,
        )
