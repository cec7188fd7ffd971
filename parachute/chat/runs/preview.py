"""The prompt that a next turn would have, prepared as that turn is."""

import asyncio
import contextlib
from collections.abc import Sequence

from msgspec.structs import asdict

from parachute.base.answers import Answer
from parachute.base.errors import Conflict
from parachute.chat.knowledge.service import Knowledge
from parachute.chat.runs.admission import Admission
from parachute.chat.runs.closing import close_session
from parachute.chat.runs.events import PromptMetadata
from parachute.chat.runs.person_preparation import PersonPreparation, prompt_metadata
from parachute.chat.runs.preparation import AgentServices, Preparation
from parachute.chat.runs.project import project_folder
from parachute.chat.runs.request import TurnRequest
from parachute.chat.runs.service import Runs
from parachute.chat.sessions.models import Session
from parachute.chat.workspaces.service import Workspaces
from parachute.sandbox.engines.views import remove_views
from parachute.security.kill_switch.switch import KillSwitch


class ShownPrompt(PromptMetadata, Answer, frozen=True):
    """The system prompt of a next turn with its token counts; `problems` are sentences about what is not in it."""

    prompt: str
    working_directory: str | None
    preset: bool
    problems: list[str]


class PromptPreview:
    """Prepares turns that nobody asked for, one at a time, and gives back everything that this took."""

    def __init__(
        self,
        services: AgentServices,
        preparation: PersonPreparation,
        workspaces: Workspaces,
        admission: Admission,
        runs: Runs,
    ) -> None:
        self._services = services
        self._preparation = preparation
        self._workspaces = workspaces
        self._admission = admission
        self._runs = runs
        self._kill_switch = KillSwitch(services.home.root)
        self._one = asyncio.Lock()

    async def of_session(self, identifier: str, contexts: Sequence[str] | None, *, by_owner: bool) -> ShownPrompt:
        """Prepare the next turn of a session; errors: NotFound, Conflict while it is answered or of a module, Stopped."""
        async with self._one:
            session = await self._services.sessions.get(identifier)
            await self._services.sessions.check_owner(session, None)
            if self._runs.is_active(session.id):
                raise Conflict("An answer in this conversation is still running.", "Wait, or stop it.", key="busy")
            try:
                return await self._prepared(session, contexts, by_owner=by_owner)
            finally:
                await self._runs.close_unused_endpoint(session.id)

    async def of_new(self, request: TurnRequest, contexts: Sequence[str], *, by_owner: bool) -> ShownPrompt:
        """Prepare the first turn of a conversation that begins so; errors: NotFound, InvalidInput, NotAllowed, Stopped."""
        async with self._one:
            session = await self._admission.session_of(request, None, lambda: None, by_owner=by_owner)
            try:
                return await self._prepared(session, contexts, by_owner=by_owner)
            finally:
                await close_session(self._services, self._preparation, session.id)
                with contextlib.suppress(OSError):
                    await asyncio.to_thread(remove_views, self._services.home.views, session.id)

    async def _prepared(self, session: Session, contexts: Sequence[str] | None, *, by_owner: bool) -> ShownPrompt:
        self._kill_switch.check()
        services = self._services
        workspace = await self._workspaces.of(session)
        directory = await project_folder(services, session, workspace)
        chosen = None if contexts is None else services.contexts.checked(contexts)
        preparation = await self._preparation.prepare(
            session,
            None,
            directory.path,
            resume=False,
            workspace=workspace,
            by_owner=by_owner,
            selected=chosen,
            wakes=False,
        )
        return _shown(preparation, session, services.settings.trust_mode)


def _shown(preparation: Preparation, session: Session, trust_mode: bool) -> ShownPrompt:
    prompt = preparation.prompt
    left_out = (f"{name} is not approved for conversations that run directly." for name in prompt.left_out)
    return ShownPrompt(
        **asdict(prompt_metadata(preparation, Knowledge(), trust_mode)),
        prompt=prompt.text,
        working_directory=session.working_directory,
        preset=preparation.specification.preset,
        problems=[*prompt.problems, *left_out],
    )
