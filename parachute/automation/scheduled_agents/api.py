"""Routes of scheduled agents (contract, section 9)."""

import asyncio
from datetime import date
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query, Request
from pydantic import BaseModel, ConfigDict, Field

from parachute.automation.scheduled_agents.listing import agent_as_json, run_as_json, status_as_json
from parachute.automation.scheduled_agents.models import AgentFile, AgentState
from parachute.automation.scheduled_agents.run import NO_TOOLS
from parachute.automation.scheduled_agents.service import ScheduledAgents
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


@router.get("/api/scheduler")
async def scheduler(request: Request, service: ServiceDependency) -> dict[str, Any]:
    """The agents of all modules that the caller may read, and when they are due."""
    caller: Caller = request.scope["state"]["caller"]
    agents: list[dict[str, Any]] = []
    problems: dict[str, str] = {}
    for module in await service.modules():
        if not caller.may(module.name, "read"):
            continue
        try:
            agents += await _listed(service, await service.list(module.name))
        except ParachuteError as error:
            problems[module.name] = str(error)
    return {"agents": agents, "problems": problems}


@router.post("/api/scheduler/reload")
async def reload(service: ServiceDependency) -> dict[str, bool]:
    """Take up schedules that were changed."""
    service.scheduler.reload()
    return {"success": True}


@router.get(_AGENTS)
async def list_agents(module: str, service: ServiceDependency) -> dict[str, Any]:
    """The agents of a module."""
    return {"agents": await _listed(service, await service.list(module))}


@router.get(f"{_AGENTS}/status")
async def agents_status(
    module: str, service: ServiceDependency, day: Annotated[date | None, Query(alias="date")] = None
) -> dict[str, Any]:
    """The pages of a module's agents for a day, today without one."""
    day = day or service.today()
    found = await service.list(module)
    states = await asyncio.to_thread(service.store.states)
    agents = [
        status_as_json(agent, states.get(agent.key) or AgentState(), day, await service.has_output(agent, day))
        for agent in found
    ]
    return {"date": day.isoformat(), "agents": agents}


@router.get(f"{_AGENTS}/{{name}}")
async def get_agent(module: str, name: str, service: ServiceDependency) -> dict[str, Any]:
    """One agent, with the text of its file."""
    agent = await service.get(module, name)
    (shown,) = await _listed(service, (agent,))
    return {**shown, "text": agent.content}


@router.post(f"{_AGENTS}/{{name}}/run")
async def run_agent(
    module: str, name: str, service: ServiceDependency, body: RunRequest | None = None
) -> dict[str, Any]:
    """Run an agent now, and wait for it for up to three minutes; it goes on when the caller leaves."""
    body = body or RunRequest()
    try:
        task = await service.run(module, name, body.day, force=body.force)
    except Conflict as error:
        if error.key != "busy":
            raise
        return {"status": "skipped", "error": error.message}
    done, _ = await asyncio.wait({task}, timeout=_WAIT_SECONDS)
    return run_as_json(task.result()) if done else {"status": "running"}


@router.post(f"{_AGENTS}/{{name}}/undo")
async def undo_agent(
    module: str, name: str, service: ServiceDependency, body: UndoRequest | None = None
) -> dict[str, str]:
    """Bring back what an agent's last page has replaced, or remove it if there was nothing before."""
    record = await service.undo(module, name, body.day if body else None)
    return {"status": "undone", "output_path": str(record.output), "date": record.date}


@router.post(f"{_AGENTS}/{{name}}/reset")
async def reset_agent(module: str, name: str, service: ServiceDependency) -> dict[str, bool]:
    """Forget an agent's last run and answer; what it wrote stays."""
    await service.reset(module, name)
    return {"success": True}


@router.get(f"{_AGENTS}/{{name}}/transcript")
async def agent_transcript(
    module: str, name: str, service: ServiceDependency, limit: Annotated[int, Query(ge=1, le=500)] = 50
) -> dict[str, Any]:
    """The newest messages of an agent's last run."""
    return await service.transcript(module, name, limit)


@router.get(f"{_AGENTS}/{{name}}/runs")
async def agent_runs(module: str, name: str, service: ServiceDependency) -> dict[str, Any]:
    """The last runs of an agent with their logs, newest first."""
    return {"runs": [record.as_json() for record in await service.runs(module, name)]}


@router.post(f"{_AGENTS}/{{name}}/approve")
async def approve_agent(
    request: Request, module: str, name: str, body: Approval, service: ServiceDependency
) -> dict[str, Any]:
    """Let an agent of the vault run as it is, if it still is what the caller saw; needs admin rights in the module."""
    caller: Caller = request.scope["state"]["caller"]
    if not caller.may(module, "admin"):
        raise NotAllowed(
            f"Approving an agent needs admin rights in {module[:64]}.",
            "`parachute schedule approve` does it at the computer itself.",
        )
    (shown,) = await _listed(service, (await service.approve(module, name, body.hash),))
    return shown


async def _listed(service: ScheduledAgents, found: tuple[AgentFile, ...]) -> list[dict[str, Any]]:
    states = await asyncio.to_thread(service.store.states)
    return [
        agent_as_json(
            agent,
            states.get(agent.key) or AgentState(),
            is_running=service.is_running(agent),
            clock=service.scheduler.clock,
            skips=None if service.has_tools() else NO_TOOLS,
        )
        for agent in found
    ]
