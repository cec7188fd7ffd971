"""Keeping lines of a conversation as memory; nothing that others had a hand in gets there unseen."""

import asyncio
from collections.abc import Sequence

from msgspec import Struct

from parachute.automation.suggestions.models import CONVERSATION, Source
from parachute.automation.suggestions.own_memory import OwnMemory, heading_of
from parachute.automation.suggestions.service import Suggestions
from parachute.base.errors import Conflict, NotAllowed
from parachute.chat.sessions.imported import IMPORT
from parachute.chat.sessions.models import Session
from parachute.chat.sessions.service import Sessions
from parachute.security.audit.service import Audit
from parachute.security.origin import Origin

_TITLE = 80


class Kept(Struct, frozen=True):
    """The outcome: `suggestion` is the id of what waits for the owner, None where it was written."""

    origin: Origin
    suggestion: str | None = None


class MemoryKeeping:
    """Decides by the origin of the conversation, which no summary of it raises."""

    def __init__(self, sessions: Sessions, suggestions: Suggestions, memory: OwnMemory, audit: Audit) -> None:
        self._sessions = sessions
        self._suggestions = suggestions
        self._memory = memory
        self._audit = audit

    async def keep(self, session_id: str, lines: Sequence[str]) -> Kept:
        """Keep lines about a conversation; errors: NotFound, InvalidInput, NotAllowed for one that is not the owner's, TooMany, OSError."""
        session = await self._sessions.get(session_id)
        if await self._is_foreign(session):
            raise NotAllowed("The conversation is not one of the owner; nothing is remembered of it.", key="not_owners")
        origin = await self._sessions.origin(session.id)
        title = " ".join((session.title or "").split())[:_TITLE]
        # The first is what the vault says, the second where it really ran.
        is_direct = session.trust_level == session.effective_execution_mode == "direct"
        payload = {"heading": heading_of(title, is_direct=is_direct, origin=origin), "lines": list(lines)}
        if not origin.may_instruct:
            reason = f"A conversation that has read what came from {origin.words}."
            made = await self._suggestions.propose_memory(Source(CONVERSATION, "", session.id), payload, reason)
            return Kept(origin, made.id)
        await asyncio.to_thread(self._memory.write, payload, approves=is_direct)
        self._audit.append(
            event_type="memory",
            source_type="agent",
            source_id=session.id,
            session=session.id,
            target_module="memory",
            target_endpoint=f"{len(lines)} lines",
            origin=origin.value,
        )
        return Kept(origin)

    async def _is_foreign(self, session: Session) -> bool:
        try:
            await self._sessions.check_owner(session, None)
        except Conflict:
            return True
        return IMPORT in session.metadata or session.source != "parachute" or session.linked_bot_platform is not None
