"""Running agents for modules: at most a few at a time, each for as long as the module listens."""

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Callable
from functools import partial
from typing import Any

from msgspec import Struct
from msgspec.structs import replace
from pydantic import ValidationError

from parachute.automation.module_agents.profile import (
    RUN_SECONDS,
    AgentProfile,
    profile_of,
    profile_of_own_task,
    profile_of_task,
)
from parachute.automation.module_agents.task import Task
from parachute.base.errors import Conflict, InvalidInput, NotFound, ParachuteError, Unavailable
from parachute.capabilities.skills.service import Skills
from parachute.chat.runs.events import Aborted, Text, read
from parachute.chat.runs.failures import as_error
from parachute.chat.runs.preparation import AgentServices
from parachute.chat.runs.request import MAXIMUM_MESSAGE, TurnRequest
from parachute.chat.runs.run import Run
from parachute.chat.runs.service import Runs
from parachute.chat.sessions.models import Owner
from parachute.modules.runtime.models import ApprovedModule
from parachute.modules.runtime.origins import ModuleOrigins
from parachute.sandbox.egress.service import Egress
from parachute.security.origin import Origin, lowest

RUNS_OF_MODULE = 4
MODULE_AGENT = "module"
"""The `agentType` of sessions that modules made, as the app sees it."""


class _Slot(Struct, eq=False):
    """One of the runs that a module may have at a time; `run` is None while it begins."""

    run: Run | None = None
    is_closed: bool = False

    @property
    def is_taken(self) -> bool:
        return self.run is None or self.run.task is None or not self.run.task.done()


class ModuleAgents:
    """Agents that modules ask for; a run ends with the iterator that reads it, and after `seconds`."""

    def __init__(
        self,
        services: AgentServices,
        runs: Runs,
        egress: Egress,
        origins: ModuleOrigins,
        *,
        skills: Skills | None = None,
        seconds: float = RUN_SECONDS,
    ) -> None:
        self._services = services
        self._skills = skills
        self._runs = runs
        self._egress = egress
        self._origins = origins
        self._seconds = seconds
        self._slots: dict[str, set[_Slot]] = {}
        self._stopping: set[asyncio.Task[None]] = set()

    def query(
        self,
        module: ApprovedModule,
        *,
        message: str,
        session_id: str | None = None,
        mcp_servers: list[str] | None = None,
        agent: str | None = None,
        is_approved: bool = False,
    ) -> AsyncGenerator[dict[str, Any], None]:
        """The events of a turn as `POST /api/chat` streams them; closing the iterator stops the run.

        `session_id` goes on with a session that this module made with the same agent. `is_approved`: the owner has said yes to
        this very run, which agents need that have more rights than others. Errors, all before the first event:
        InvalidInput, NotFound, NotAllowed, Conflict when the session is busy, 429 when too many runs of the module are under
        way, Unavailable without a sandbox engine.
        """
        profile = partial(
            profile_of,
            *(self._services, self._egress, module, agent, mcp_servers, self._seconds),
            is_approved=is_approved,
            skills=self._skills,
            origin=self._origins.of_words(module),
        )
        return self._turn(module.name, profile, message, session_id)

    async def check(self, module: ApprovedModule, agent: str | None, mcp_servers: list[str] | None = None) -> None:
        """See that an agent could run if the owner said yes; errors: NotFound, NotAllowed, InvalidInput."""
        await asyncio.to_thread(profile_of, self._services, self._egress, module, agent, mcp_servers, is_approved=True)

    def carry_out(self, module: ApprovedModule, task: Task) -> AsyncGenerator[dict[str, Any], None]:
        """The events of a task in a session of its own; for its end and its errors see `query`."""
        # What its files say is taken in when it reads them.
        task = replace(task, origin=lowest(task.origin, self._origins.of(module)))
        profile = partial(profile_of_task, self._services, self._egress, module, task, self._seconds)
        return self._turn(module.name, profile, task.message, None, task.model)

    def carry_out_own(self, part: str, task: Task) -> AsyncGenerator[dict[str, Any], None]:
        """The same for a part of the computer itself, whose name no module can have; see `profile_of_own_task`."""
        owner = Owner(part, task.agent)
        profile = partial(profile_of_own_task, self._services, self._egress, owner, task, self._seconds)
        return self._turn(part, profile, task.message, None, task.model)

    async def _turn(
        self,
        module: str,
        make_profile: Callable[[], AgentProfile],
        message: str,
        session_id: str | None,
        model: str | None = None,
    ) -> AsyncGenerator[dict[str, Any], None]:
        if not message.strip() or len(message) > MAXIMUM_MESSAGE:
            raise InvalidInput(f"message: expected 1 to {MAXIMUM_MESSAGE:,} characters.", key="message_length")
        slot = self._take(module)
        try:
            profile = await asyncio.to_thread(make_profile)
            if profile.sandbox is not None:
                await self._services.sandboxes.require()
            if session_id is not None:
                # Before its form is checked: whatever is none of the module's sessions is answered in the same way.
                found = await self._services.sessions.get(session_id)
                await self._services.sessions.check_owner(found, profile.owner)
            request = _request(message, session_id, model)
            slot.run = run = await self._runs.begin(request, f"module {module}", profile)
            try:
                if slot.is_closed:
                    raise Unavailable(f"The module {module} was disabled.", key="module_disabled")
                async for seq, event in run.log.read():
                    if event.is_terminal and run.task is not None:
                        # Who has read the last event may send the next message: then all of this one has to be gone.
                        await asyncio.wait({run.task})
                    yield {**event.to_json(), "seq": seq}
            finally:
                await self._stop(run)
        finally:
            self._give_back(module, slot)

    async def note_written(self, path: str, session: str | None) -> None:
        """Remember of a file of the vault that is about to be written what the agent of a session had read."""
        services = self._services
        origin = await services.sessions.origin(session) if session else Origin.AGENT_FILE
        await services.changes.lineage.wrote(services.vault.root, [path], origin)

    async def run_agent(self, module: ApprovedModule, agent: str, prompt: str) -> str:
        """Run an agent of the manifest to its end; its last text. Errors: those of `query`, and what went wrong in the run."""
        text = ""
        async with contextlib.aclosing(self.query(module, message=prompt, agent=agent)) as events:
            async for document in events:
                event = read(document)
                if error := as_error(event):
                    raise error
                if isinstance(event, Text):
                    text = event.content
                elif isinstance(event, Aborted):
                    raise Conflict(f"The agent {agent} of the module {module.name} was stopped.", key="aborted")
        return text

    async def close_module(self, name: str) -> None:
        """End the runs of a module; returns when they have ended."""
        slots = self._slots.get(name, set())
        for slot in slots:
            slot.is_closed = True
        await asyncio.gather(*(self._stop(slot.run) for slot in slots if slot.run is not None))

    def _take(self, module: str) -> _Slot:
        slots = self._slots.setdefault(module, set())
        if sum(slot.is_taken for slot in slots) >= RUNS_OF_MODULE:
            raise ParachuteError(
                f"{RUNS_OF_MODULE} agents of the module {module} are running already.",
                "Wait until one of them ends.",
                key="queue_full",
                status=429,
            )
        slot = _Slot()
        slots.add(slot)
        return slot

    def _give_back(self, module: str, slot: _Slot) -> None:
        slots = self._slots[module]
        slots.discard(slot)
        if not slots:
            del self._slots[module]

    async def _stop(self, run: Run) -> None:
        """Abort a run, unless it has ended; goes on when whoever waits for it is cancelled."""
        if run.task is None or run.task.done():
            return
        stopping = asyncio.create_task(self._abort(run), name=f"stop run {run.session.id}")
        self._stopping.add(stopping)
        stopping.add_done_callback(self._stopping.discard)
        await asyncio.shield(stopping)

    async def _abort(self, run: Run) -> None:
        assert run.task is not None
        if not run.log.closed:
            with contextlib.suppress(NotFound):  # it has ended meanwhile
                await self._runs.abort(run.session.id)
        await asyncio.wait({run.task})


def _request(message: str, session: str | None, model: str | None) -> TurnRequest:
    try:
        return TurnRequest(message=message, session_id=session or "new", agent_type=MODULE_AGENT, model=model)
    except ValidationError as error:  # such as halves of characters, which no encoding has
        raise InvalidInput("message: expected text.", key="message_missing") from error
