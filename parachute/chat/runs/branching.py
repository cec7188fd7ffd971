"""Branches of conversations: each begins with a copy of what was said before one message, and has the rights of the one it came from."""

import asyncio
import uuid
from contextlib import suppress
from typing import Any

from msgspec import to_builtins

from parachute.base.clock import now
from parachute.base.errors import Conflict, NotFound, ParachuteError
from parachute.chat.contexts.service import Contexts
from parachute.chat.runs.request import TurnRequest
from parachute.chat.sessions.copying import Beginnings
from parachute.chat.sessions.imported import IMPORT
from parachute.chat.sessions.kept_permissions import LABEL
from parachute.chat.sessions.messages import user_text
from parachute.chat.sessions.models import BRANCH, Branch, Session
from parachute.chat.sessions.service import Sessions


class Branching:
    """Makes the sessions of branches."""

    def __init__(self, sessions: Sessions, contexts: Contexts, beginnings: Beginnings) -> None:
        self._sessions = sessions
        self._contexts = contexts
        self._beginnings = beginnings

    async def branch_of(
        self, source: Session, event: dict[str, Any], request: TurnRequest, *, by_owner: bool
    ) -> Session | None:
        """The session of a branch before the message of an event, with nothing copied or stored yet; None where one cannot begin with a copy.

        What a request chooses besides the model is not taken: a branch has what the conversation has that it comes from, and one
        that runs with the owner's rights is in a sandbox for everybody else.
        """
        text = user_text(event)
        if text is None or request.prior_conversation is not None or source.from_outside:
            return None
        try:
            await self._sessions.check_owner(source, None)
        except Conflict:
            return None
        moment, level = now(), await self._sessions.level(source)
        if not by_owner or request.level == "sandboxed":
            level = "sandboxed"
        message = str(uuid.uuid4())
        is_again = event.get("said", text) == request.message
        branch = Branch(source.family, str(event.get("uuid")), message, is_again)
        kept = {LABEL: True} if source.metadata.get(LABEL) else {}
        return Session(
            id=str(uuid.uuid4()),
            created_at=moment,
            updated_at=moment,
            title=source.title,
            pinned=source.pinned,
            agent_path=source.agent_path,
            agent_name=source.agent_name,
            agent_type=source.agent_type,
            continued_from=source.id,
            working_directory=source.working_directory,
            trust_level=level,
            workspace_id=source.workspace_id,
            model=request.model or source.model,
            metadata={BRANCH: to_builtins(branch), **kept},
        )

    async def begin(self, session: Session, branch: Branch, approved_by: str) -> None:
        """Copy what comes before a branch, and store it; errors: NotFound, Unavailable, and then nothing is left of it."""
        source = str(session.continued_from)
        try:
            await self._copy(session, source, branch)
            await self._sessions.create(session, approved_by=approved_by, heir_of=source)
            await self._sessions.search_index.update(session.id)
            await self._contexts.add(session.id, await self._contexts.selected(source))
        except BaseException:
            with suppress(ParachuteError):
                await self._sessions.delete(session.id)
            await asyncio.to_thread(self._beginnings.discard, session.id)
            raise

    async def _copy(self, session: Session, source: str, branch: Branch) -> None:
        is_direct = session.trust_level == "direct"
        copied = await asyncio.to_thread(
            self._beginnings.copy, source, branch.replaced, session.id, is_direct=is_direct
        )
        if copied is None:
            raise NotFound(
                "What was said before this message is no longer there.",
                "Begin a new conversation.",
                key="message_not_found",
            )
        session.message_count = copied.texts
        if copied.imported:
            before: dict[str, Any] = {"messages": copied.imported}
            session.metadata[IMPORT] = before
