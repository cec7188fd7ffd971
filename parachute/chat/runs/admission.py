"""Admission of a message: the session that it opens, or goes on with and changes."""

import asyncio
import uuid
from collections.abc import Callable, Sequence
from typing import Any

from parachute.base.clock import now
from parachute.base.errors import NotAllowed
from parachute.chat.runs.branching import Branching
from parachute.chat.runs.preparation import AgentServices
from parachute.chat.runs.request import TurnRequest
from parachute.chat.runs.run import Profile
from parachute.chat.sessions.models import Session
from parachute.chat.workspaces.models import Workspace, choice_of
from parachute.chat.workspaces.service import Workspaces
from parachute.events.bus.catalogue import SESSION_START
from parachute.events.hooks.models import Added
from parachute.events.hooks.service import Hooks
from parachute.security.trust_levels import TrustLevel


class Admission:
    """Finds, makes and changes the sessions of messages."""

    def __init__(self, services: AgentServices, workspaces: Workspaces, hooks: Hooks, branching: Branching) -> None:
        self._services = services
        self._workspaces = workspaces
        self._hooks = hooks
        self._branching = branching

    async def session_of(
        self, request: TurnRequest, profile: Profile | None, prewarmed: Callable[[], str | None], *, by_owner: bool
    ) -> Session:
        """Return the session of a message, a new one not stored yet; errors: NotFound, InvalidInput, NotAllowed, Conflict.

        A new chat that needs nothing special gets the id that `prewarmed` gives, if any. `by_owner`: whoever wrote it may choose any
        project, and not only those of workspaces.
        """
        if request.session_id == "new":
            return await self._new_session(request, profile, prewarmed, by_owner=by_owner)
        session = await self._services.sessions.get(request.session_id)
        await self._services.sessions.check_owner(session, profile.owner if profile else None)
        return session

    async def admit(
        self, session: Session, request: TurnRequest, profile: Profile | None, caller: str
    ) -> Sequence[Added]:
        """Store a new session, or what a message changes of one; give what hooks add. Errors: NotFound, InvalidInput, NotAllowed."""
        added: Sequence[Added] = ()
        if request.session_id != "new":
            await self._apply(session, request, caller)
        else:
            added = await self._ask_hooks(session, profile)
            if branch := session.branch:
                await self._branching.begin(session, branch, caller)
                return added
            owner = profile.owner if profile else None
            await self._services.sessions.create(session, approved_by=caller, owner=owner)
        if profile is None and request.chosen_contexts:
            await self._services.contexts.add(session.id, request.chosen_contexts)
        return added

    def default_level(self, workspace: str | None) -> TrustLevel:
        """The level of a new session whose message does not name one; error: NotFound for no workspace."""
        found = self._found(workspace)
        return found.default_trust_level if found else "sandboxed"

    async def _new_session(
        self, request: TurnRequest, profile: Profile | None, prewarmed: Callable[[], str | None], *, by_owner: bool
    ) -> Session:
        services, moment = self._services, now()
        if request.continued_from:
            source = await services.sessions.get(request.continued_from)
            if request.continued_before is not None:
                event = await services.sessions.message(source.id, request.continued_before)
                branch = await self._branching.branch_of(source, event, request, by_owner=by_owner)
                if branch is not None and profile is None:
                    return branch
        workspace = self._found(request.workspace_id)
        if request.continued_from and (before := await self._workspaces.of(source)) and before.only_at_home:
            # What was said there comes along, and stays at home.
            workspace = workspace if workspace is not None and workspace.only_at_home else before
        level = request.level or self.default_level(workspace.slug if workspace else None)
        level = services.sessions.floored(level, workspace.slug if workspace else None)
        directory = None
        if wanted := request.working_directory or (workspace and workspace.working_directory):
            path = services.vault.absolute(wanted)
            if request.working_directory and not by_owner:
                self._workspaces.check_chosen(path)
            check = services.sandboxes.check_project if level == "sandboxed" else services.sandboxes.check_directory
            directory = services.vault.relative(await asyncio.to_thread(check, path))
        agent_name = None
        if request.agent_path:
            agent_name = (await asyncio.to_thread(services.prompts.agent, request.agent_path)).name
        otherwise = choice_of(services.settings.default_capabilities.agents)
        self._workspaces.check_agent(workspace, request.agent_path, agent_name, otherwise)
        is_plain = profile is None and workspace is None and level == "sandboxed" and directory is None
        return Session(
            # Nothing is waited for from here to the reservation of the session: another new chat would get the same id.
            id=(prewarmed() if is_plain else None) or str(uuid.uuid4()),
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

    async def _ask_hooks(self, session: Session, profile: Profile | None) -> Sequence[Added]:
        is_sandboxed = (
            session.trust_level == "sandboxed" and await self._services.sandboxes.reason_unavailable() is None
        )
        data = {
            "session_id": session.id,
            "module": profile.owner.module if profile else "chat",
            "working_directory": session.working_directory,
            "trust_level": "sandboxed" if is_sandboxed else "direct",
        }
        outcome = await self._hooks.fire(SESSION_START, data)
        if outcome.blocked:
            raise NotAllowed(f"A hook does not allow this conversation: {outcome.reason}", key="blocked_by_hook")
        # It is about the owner: an agent of a module sees what its manifest names, and others read what a bot answers.
        return () if profile or session.from_outside else outcome.added

    async def _apply(self, session: Session, request: TurnRequest, caller: str) -> None:
        changes: dict[str, Any] = {}
        if request.level is not None and request.level != session.trust_level:
            changes["trustLevel"] = request.level
        if request.workspace_id and request.workspace_id != session.workspace_id:
            await self._workspaces.check_move(session, request.workspace_id)
            changes["workspaceId"] = request.workspace_id
        if changes:
            await self._services.permissions.check_level(session, request.level)
            updated = await self._services.sessions.configure(session.id, changes, approved_by=caller, admin=False)
            session.trust_level, session.workspace_id = updated.trust_level, updated.workspace_id
            session.remember()
        if session.archived or (request.model and request.model != session.model):
            session.model, session.archived = request.model or session.model, False
            await self._services.sessions.save(session)

    def _found(self, slug: str | None) -> Workspace | None:
        if not slug:
            return None
        self._services.sessions.floored("sandboxed", slug)  # fails if there is none
        return self._workspaces.get(slug)
