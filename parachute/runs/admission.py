"""What a message decides before its run begins: the session it opens, or what it changes of one."""

import asyncio
import uuid
from collections.abc import Callable, Sequence
from typing import Any

from parachute.clock import now
from parachute.errors import NotAllowed
from parachute.events.service import SESSION_START
from parachute.hooks.models import Added
from parachute.runs.preparation import Services
from parachute.runs.request import TurnRequest
from parachute.runs.run import Profile
from parachute.sessions.models import Session
from parachute.sessions.trust import TrustLevel
from parachute.workspaces.models import Workspace


class Admission:
    """Makes and changes sessions as their messages say; `is_used` tells whether something happens in one."""

    def __init__(self, services: Services, is_used: Callable[[str], bool]) -> None:
        self._services = services
        self._is_used = is_used

    async def new_session(
        self, request: TurnRequest, level: TrustLevel | None, profile: Profile | None, *, by_owner: bool
    ) -> Session:
        """The session that a message opens, not stored yet; errors: NotFound, InvalidInput, NotAllowed.

        `by_owner`: whoever wrote it may choose any project, and not only those of workspaces.
        """
        services, moment = self._services, now()
        workspace = self._found(request.workspace_id)
        level = level or self.default_level(request.workspace_id)
        level = services.sessions.floored(level, workspace.slug if workspace else None)
        directory = None
        if wanted := request.working_directory or (workspace and workspace.working_directory):
            path = services.vault.absolute(wanted)
            if request.working_directory and not by_owner:
                services.workspaces.check_chosen(path)
            check = services.sandboxes.check_project if level == "sandboxed" else services.sandboxes.check_directory
            directory = services.vault.relative(await asyncio.to_thread(check, path))
        if request.continued_from:
            await services.sessions.get(request.continued_from)
        agent_name = None
        if request.agent_path:
            agent_name = await asyncio.to_thread(services.prompts.agent_name, request.agent_path)
        services.workspaces.check_agent(workspace, request.agent_path, agent_name)
        spare = services.pool.spare
        identifier = str(uuid.uuid4())
        if (
            spare is not None
            and profile is None
            and workspace is None
            and level == "sandboxed"
            and directory is None
            and not self._is_used(spare.specification.session)
        ):
            identifier = spare.specification.session
        return Session(
            id=identifier,
            created_at=moment,
            updated_at=moment,
            title=request.title,
            agent_path=request.agent_path,
            agent_name=profile.owner.agent or None if profile else agent_name,
            agent_type=request.agent_type,
            continued_from=request.continued_from,
            working_directory=directory,
            trust_level=level,
            workspace_id=workspace.slug if workspace else None,
            model=request.model,
        )

    async def ask_hooks(self, session: Session, profile: Profile | None) -> Sequence[Added]:
        """What hooks want the agent of a new session to know; error: NotAllowed if one of them does not allow it."""
        module = profile.owner.module if profile else "chat"
        is_boxed = session.trust_level == "sandboxed" and await self._services.sandboxes.reason_unavailable() is None
        data = {
            "session_id": session.id,
            "module": module,
            "working_directory": session.working_directory,
            "trust_level": "sandboxed" if is_boxed else "direct",
        }
        outcome = await self._services.hooks.fire(SESSION_START, data)
        if outcome.blocked:
            raise NotAllowed(f"A hook does not allow this conversation: {outcome.reason}", key="blocked_by_hook")
        # It is about the owner: an agent of a module sees what its manifest names, and others read what a bot answers.
        return () if profile or session.from_outside else outcome.added

    async def apply(self, session: Session, request: TurnRequest, level: TrustLevel | None, caller: str) -> None:
        """Change a session as a message of it says; errors: NotFound, InvalidInput, NotAllowed."""
        changed = False
        changes: dict[str, Any] = {}
        if level is not None and level != session.trust_level:
            changes["trustLevel"] = level
        if request.workspace_id and request.workspace_id != session.workspace_id:
            changes["workspaceId"] = request.workspace_id
        if changes:
            updated = await self._services.sessions.configure(session.id, changes, approved_by=caller, admin=False)
            session.trust_level, session.workspace_id = updated.trust_level, updated.workspace_id
            session.remember()
        if request.model and request.model != session.model:
            session.model, changed = request.model, True
        if session.archived:
            session.archived, changed = False, True
        if changed:
            await self._services.sessions.save(session)

    def default_level(self, workspace: str | None) -> TrustLevel:
        """The level of a new session whose message does not say one; error: NotFound for no workspace."""
        found = self._found(workspace)
        return found.default_trust_level if found else "sandboxed"

    def _found(self, slug: str | None) -> Workspace | None:
        if not slug:
            return None
        self._services.sessions.floored("sandboxed", slug)  # says so if there is none
        return self._services.workspaces.get(slug)
