"""Routes of the orchestrator; they stand before those of suggestions, where an id would be in their place."""

import asyncio
from typing import Annotated

from fastapi import APIRouter, Depends, Request
from pydantic import BaseModel, ConfigDict, Field

from parachute.automation.scheduled_agents.models import Status
from parachute.automation.triage.models import OrchestratorState
from parachute.automation.triage.service import Orchestrator
from parachute.base.errors import Conflict
from parachute.base.services import provided
from parachute.security.keys.models import Caller

router = APIRouter(prefix="/api/suggestions", tags=["suggestions"])

_WAIT_SECONDS = 170.0
"""As for the agents that work once a day; a longer run goes on without the request."""


class SortingResult(BaseModel):
    """The outcome of a run, by ids of suggestions; it goes on, or another one does, where there is no `run`."""

    model_config = ConfigDict(json_schema_serialization_defaults_required=True)

    status: Status
    run: str | None = None
    error: str | None = None
    session_id: str | None = Field(default=None, serialization_alias="sessionId")
    dropped: list[str] = []
    entries: list[str] = []
    approved: list[str] = []
    rejected: list[str] = []


OrchestratorDependency = Annotated[Orchestrator, Depends(provided(Orchestrator))]


@router.get("/orchestrator")
async def get_orchestrator(service: OrchestratorDependency) -> OrchestratorState:
    """The orchestrator's schedule, the kinds that it may decide about, and its last runs with their logs."""
    return await service.shown()


@router.post("/orchestrate")
async def orchestrate(request: Request, service: OrchestratorDependency) -> SortingResult:
    """Sort what waits now, of the modules that the caller may change, and wait for it for up to three minutes."""
    caller: Caller = request.scope["state"]["caller"]
    try:
        running = service.run(lambda module: caller.may(module, "write"))
    except Conflict as error:
        return SortingResult(status="skipped", error=error.message)
    done, _ = await asyncio.wait({running}, timeout=_WAIT_SECONDS)
    if not done:
        return SortingResult(status="running")
    outcome = running.result()
    return SortingResult(
        status=outcome.record.status,
        run=outcome.record.id,
        error=outcome.record.error,
        session_id=outcome.record.session,
        dropped=outcome.dropped,
        entries=outcome.entries,
        approved=outcome.approved,
        rejected=outcome.rejected,
    )
