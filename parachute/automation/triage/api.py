"""Routes of the orchestrator; they stand before those of suggestions, where an id would be in their place."""

import asyncio
from collections.abc import Sequence
from typing import Annotated

from fastapi import APIRouter, Depends, Request
from msgspec import field

from parachute.automation.scheduled_agents.models import Status
from parachute.automation.triage.models import OrchestratorState, Outcome
from parachute.automation.triage.service import Orchestrator
from parachute.base.answers import Answer
from parachute.base.errors import Conflict
from parachute.base.services import provided
from parachute.security.keys.models import Caller

router = APIRouter(prefix="/api/suggestions", tags=["suggestions"])

_WAIT_SECONDS = 170.0
"""As for the agents that work once a day; a longer run goes on without the request."""


class SortingResult(Answer, frozen=True):
    """The outcome of a run, by ids of suggestions; it goes on, or another one does, where there is no `run`."""

    status: Status
    error: str | None = None
    run: str | None = None
    session: str | None = field(default=None, name="sessionId")
    dropped: Sequence[str] = ()
    entries: Sequence[str] = ()
    approved: Sequence[str] = ()
    rejected: Sequence[str] = ()


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
        return SortingResult("skipped", error.message)
    done, _ = await asyncio.wait({running}, timeout=_WAIT_SECONDS)
    return _result(running.result()) if done else SortingResult("running")


def _result(outcome: Outcome) -> SortingResult:
    record, done = outcome.record, (outcome.dropped, outcome.entries, outcome.approved, outcome.rejected)
    return SortingResult(record.status, record.error, record.id, record.session, *done)
