"""Running agents for modules: at most a few at a time, each for as long as the module listens."""

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from parachute.egress.service import Egress
from parachute.errors import Conflict, InvalidInput, NotFound, ParachuteError, Unavailable
from parachute.hosts.models import ApprovedModule
from parachute.module_agents.profile import (
    RUN_SECONDS,
    AgentProfile,
    profile_of,
    profile_of_own_task,
    profile_of_task,
)
from parachute.module_agents.task import Task
from parachute.runs.events import TERMINAL
from parachute.runs.preparation import Services
from parachute.runs.request import MAXIMUM_MESSAGE, TurnRequest
from parachute.runs.run import Run
from parachute.runs.service import Runs
from parachute.sessions.models import Owner

RUNS_OF_MODULE = 4
MODULE_AGENT = "module"
"""The `agentType` of sessions that modules made, as the app sees it."""

_FAILURES = frozenset({"error", "typed_error"})


@dataclass(slots=True, eq=False)
class _Place:
    """One of the places that a module has for its runs; `run` is None while it begins."""

    run: Run | None = None
    is_closed: bool = False

    @property
    def is_taken(self) -> bool:
        return self.run is None or self.run.task is None or not self.run.task.done()


class ModuleAgents:
    """Agents that modules ask for; a run ends with the iterator that reads it, and after `seconds`."""

    def __init__(self, services: Services, runs: Runs, egress: Egress, *, seconds: float = RUN_SECONDS) -> None:
        self._services = services
        self._runs = runs
        self._egress = egress
        self._seconds = seconds
        self._places: dict[str, set[_Place]] = {}
        self._stopping: set[asyncio.Task[None]] = set()

    def query(
        self,
        module: ApprovedModule,
        *,
        message: str,
        session_id: str | None = None,
        mcp_servers: list[str] | None = None,
        agent: str | None = None,
    ) -> AsyncGenerator[dict[str, Any], None]:
        """The events of a turn as `POST /api/chat` streams them; closing the iterator stops the run.

        `session_id` goes on with a session that this module made with the same agent. Errors, all before the first event:
        InvalidInput, NotFound, NotAllowed, Conflict when the session is busy, 429 when too many runs of the module are under
        way, Unavailable without a sandbox engine.
        """

        def profile() -> AgentProfile:
            return profile_of(self._services, self._egress, module, agent, mcp_servers, self._seconds)

        return self._turn(module.name, profile, message, session_id)

    def carry_out(self, module: ApprovedModule, task: Task) -> AsyncGenerator[dict[str, Any], None]:
        """The events of a task in a session of its own; for its end and its errors see `query`."""

        def profile() -> AgentProfile:
            return profile_of_task(self._services, self._egress, module, task, self._seconds)

        return self._turn(module.name, profile, task.message, None, task.model)

    def carry_out_own(self, part: str, task: Task) -> AsyncGenerator[dict[str, Any], None]:
        """The same for a part of the computer itself, whose name no module can have; see `profile_of_own_task`."""

        def profile() -> AgentProfile:
            return profile_of_own_task(self._services, self._egress, Owner(part, task.agent), task, self._seconds)

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
            raise InvalidInput(f"message: expected 1 to {MAXIMUM_MESSAGE:,} characters.")
        place = self._take(module)
        try:
            profile = await asyncio.to_thread(make_profile)
            await self._services.sandboxes.require()
            if session_id is not None:
                # Before its form is looked at: whatever is none of the module's sessions is answered in the same way.
                found = await self._services.sessions.get(session_id)
                await self._services.sessions.check_owner(found, profile.owner)
            request = _request(message, session_id, model)
            place.run = run = await self._runs.begin(request, f"module {module}", profile)
            try:
                if place.is_closed:
                    raise Unavailable(f"The module {module} was disabled.")
                async for seq, event in run.log.read():
                    if event["type"] in TERMINAL and run.task is not None:
                        # Who has read the last event may send the next message: then all of this one has to be gone.
                        await asyncio.wait({run.task})
                    yield {**event, "seq": seq}
            finally:
                await self._stop(run)
        finally:
            self._give_back(module, place)

    async def run_agent(self, module: ApprovedModule, agent: str, prompt: str) -> str:
        """Run an agent of the manifest to its end; its last text. Errors: those of `query`, and what went wrong in the run."""
        text = ""
        async with contextlib.aclosing(self.query(module, message=prompt, agent=agent)) as events:
            async for event in events:
                if event["type"] == "text":
                    text = str(event["content"])
                elif event["type"] in _FAILURES:
                    reason = str(event.get("message") or event.get("error"))
                    raise Unavailable(reason, key=str(event.get("code") or "agent_failed"))
                elif event["type"] == "aborted":
                    raise Conflict(f"The agent {agent} of the module {module.name} was stopped.", key="aborted")
        return text

    async def close_module(self, name: str) -> None:
        """End the runs of a module; returns when they have ended."""
        places = self._places.get(name, set())
        for place in places:
            place.is_closed = True
        await asyncio.gather(*(self._stop(place.run) for place in places if place.run is not None))

    def _take(self, module: str) -> _Place:
        places = self._places.setdefault(module, set())
        if sum(place.is_taken for place in places) >= RUNS_OF_MODULE:
            raise ParachuteError(
                f"{RUNS_OF_MODULE} agents of the module {module} are at work already.",
                "Wait until one of them has ended.",
                key="queue_full",
                status=429,
            )
        place = _Place()
        places.add(place)
        return place

    def _give_back(self, module: str, place: _Place) -> None:
        places = self._places[module]
        places.discard(place)
        if not places:
            del self._places[module]

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
        raise InvalidInput("message: expected text.") from error
