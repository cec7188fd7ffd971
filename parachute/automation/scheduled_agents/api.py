"""Routes of scheduled agents (contract, section 9)."""

import asyncio
from collections.abc import Sequence
from datetime import date
from typing import Annotated, Literal

from fastapi import APIRouter, Depends, Query, Request
from msgspec.structs import asdict
from pydantic import BaseModel, ConfigDict, Field

from parachute.automation.scheduled_agents.listing import (
    AgentPage,
    RunResult,
    ScheduledAgent,
    listed,
    page_of,
    result_of,
)
from parachute.automation.scheduled_agents.models import AgentFile, AgentState, RunRecord
from parachute.automation.scheduled_agents.service import ScheduledAgents
from parachute.automation.scheduled_agents.transcripts import Transcript
from parachute.base.answers import Answer, Done
from parachute.base.errors import Conflict, NotAllowed, ParachuteError
from parachute.base.services import provided
from parachute.security.keys.models import Caller

router = APIRouter(tags=["scheduled agents"])

_AGENTS = "/api/modules/{module}/agents"
_WAIT_SECONDS = 170.0
"""The app waits for 180 seconds; a longer run goes on without the request."""


ServiceDependency = Annotated[ScheduledAgents, Depends(provided(ScheduledAgents))]


class RunRequest(BaseModel):
    """The day that a run is about; `force` replaces what the agent wrote for that day before."""

    model_config = ConfigDict(extra="ignore")

    day: date | None = Field(default=None, alias="date")
    force: bool = False


class UndoRequest(BaseModel):
    """The day whose page is taken back; the last one without it."""

    model_config = ConfigDict(extra="ignore")

    day: date | None = Field(default=None, alias="date")


class Approval(BaseModel):
    """The hash of the content that the caller saw and approves."""

    model_config = ConfigDict(extra="forbid", strict=True)

    hash: str = Field(pattern=r"^sha256:[0-9a-f]{64}$")


class AgentList(Answer, frozen=True):
    """Agents of a module."""

    agents: list[ScheduledAgent]


class SchedulerAgents(AgentList, frozen=True):
    """Agents of all modules; `problems` has the reason for each module whose agents cannot be read."""

    problems: dict[str, str]


class AgentPages(Answer, frozen=True):
    """The pages of a module's agents for a day."""

    date: str
    agents: list[AgentPage]


class AgentWithText(ScheduledAgent, frozen=True, kw_only=True):
    """An agent with the text of its file."""

    text: str


class AgentRuns(Answer, frozen=True):
    """The last runs of an agent, newest first."""

    runs: Sequence[RunRecord]


class UndonePage(Answer, frozen=True):
    """The page that was taken back."""

    output_path: str
    date: str
    status: Literal["undone"] = "undone"


@router.get("/api/scheduler")
async def scheduler(request: Request, service: ServiceDependency) -> SchedulerAgents:
    """The agents of all modules that the caller may read, and when they are due."""
    caller: Caller = request.scope["state"]["caller"]
    agents: list[ScheduledAgent] = []
    problems: dict[str, str] = {}
    for module in await service.modules():
        if not caller.may(module.name, "read"):
            continue
        try:
            agents += await _listed(service, await service.list(module.name))
        except ParachuteError as error:
            problems[module.name] = str(error)
    return SchedulerAgents(agents, problems)


@router.post("/api/scheduler/reload")
async def reload(service: ServiceDependency) -> Done:
    """Take up schedules that were changed."""
    service.scheduler.reload()
    return Done()


@router.get(_AGENTS)
async def list_agents(module: str, service: ServiceDependency) -> AgentList:
    """The agents of a module."""
    return AgentList(await _listed(service, await service.list(module)))


@router.get(f"{_AGENTS}/status")
async def agents_status(
    module: str, service: ServiceDependency, day: Annotated[date | None, Query(alias="date")] = None
) -> AgentPages:
    """The pages of a module's agents for a day, today without one."""
    day = day or service.today()
    found = await service.list(module)
    states = await asyncio.to_thread(service.store.states)
    agents = [
        page_of(agent, states.get(agent.key) or AgentState(), day, await service.has_output(agent, day))
        for agent in found
    ]
    return AgentPages(day.isoformat(), agents)


@router.get(f"{_AGENTS}/{{name}}")
async def get_agent(module: str, name: str, service: ServiceDependency) -> AgentWithText:
    """One agent, with the text of its file."""
    agent = await service.get(module, name)
    (shown,) = await _listed(service, (agent,))
    return AgentWithText(**asdict(shown), text=agent.content)


@router.post(f"{_AGENTS}/{{name}}/run")
async def run_agent(module: str, name: str, service: ServiceDependency, body: RunRequest | None = None) -> RunResult:
    """Run an agent now, and wait for it for up to three minutes; it goes on when the caller leaves."""
    body = body or RunRequest()
    try:
        task = await service.run(module, name, body.day, force=body.force)
    except Conflict as error:
        if error.key != "busy":
            raise
        return RunResult("skipped", error.message)
    done, _ = await asyncio.wait({task}, timeout=_WAIT_SECONDS)
    return result_of(task.result()) if done else RunResult("running")


@router.post(f"{_AGENTS}/{{name}}/undo")
async def undo_agent(module: str, name: str, service: ServiceDependency, body: UndoRequest | None = None) -> UndonePage:
    """Bring back what an agent's last page has replaced, or remove it if there was nothing before."""
    record = await service.undo(module, name, body.day if body else None)
    return UndonePage(str(record.output), record.date)


@router.post(f"{_AGENTS}/{{name}}/reset")
async def reset_agent(module: str, name: str, service: ServiceDependency) -> Done:
    """Forget an agent's last run and answer; what it wrote stays."""
    await service.reset(module, name)
    return Done()


@router.get(f"{_AGENTS}/{{name}}/transcript")
async def agent_transcript(
    module: str, name: str, service: ServiceDependency, limit: Annotated[int, Query(ge=1, le=500)] = 50
) -> Transcript:
    """The newest messages of an agent's last run."""
    return await service.transcript(module, name, limit)


@router.get(f"{_AGENTS}/{{name}}/runs")
async def agent_runs(module: str, name: str, service: ServiceDependency) -> AgentRuns:
    """The last runs of an agent with their logs, newest first."""
    return AgentRuns(await service.runs(module, name))


@router.post(f"{_AGENTS}/{{name}}/approve")
async def approve_agent(
    request: Request, module: str, name: str, body: Approval, service: ServiceDependency
) -> ScheduledAgent:
    """Let an agent of the vault run as it is, if it still is what the caller saw; needs admin rights in the module."""
    caller: Caller = request.scope["state"]["caller"]
    if not caller.may(module, "admin"):
        raise NotAllowed(
            f"Approving an agent needs admin rights in {module[:64]}.",
            "`parachute schedule approve` does it at the computer itself.",
            key="approval_needs_admin",
        )
    (shown,) = await _listed(service, (await service.approve(module, name, body.hash),))
    return shown


async def _listed(service: ScheduledAgents, found: tuple[AgentFile, ...]) -> list[ScheduledAgent]:
    states = await asyncio.to_thread(service.store.states)
    return [
        listed(
            agent,
            states.get(agent.key) or AgentState(),
            is_running=service.is_running(agent),
            clock=service.scheduler.clock,
            skips=service.reason_to_skip(agent, states.get(agent.key) or AgentState()),
        )
        for agent in found
    ]
