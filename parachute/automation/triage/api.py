"""Routes of the orchestrator; they stand before those of suggestions, where an id would be in their place."""

import asyncio
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request

from parachute.automation.triage.service import Orchestrator
from parachute.base.errors import Conflict
from parachute.base.services import provided
from parachute.security.keys.models import Caller

router = APIRouter(prefix="/api/suggestions", tags=["suggestions"])

_WAIT_SECONDS = 170.0
"""As for the agents that work once a day; a longer run goes on without the request."""


OrchestratorDependency = Annotated[Orchestrator, Depends(provided(Orchestrator))]


@router.get("/orchestrator")
async def get_orchestrator(service: OrchestratorDependency) -> dict[str, Any]:
    """The orchestrator's schedule, the kinds that it may decide about, and its last runs with their logs."""
    return await service.shown()


@router.post("/orchestrate")
async def orchestrate(request: Request, service: OrchestratorDependency) -> dict[str, Any]:
    """Sort what waits now, of the modules that the caller may change, and wait for it for up to three minutes."""
    caller: Caller = request.scope["state"]["caller"]
    try:
        running = service.run(lambda module: caller.may(module, "write"))
    except Conflict as error:
        return {"status": "skipped", "error": error.message}
    done, _ = await asyncio.wait({running}, timeout=_WAIT_SECONDS)
    return running.result().as_json() if done else {"status": "running"}
