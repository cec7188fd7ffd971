"""`/api/panic` and `/api/resume`: stopping all agents, and letting them work again."""

from typing import Any

from fastapi import APIRouter, Request

from parachute.keys.models import Caller
from parachute.panic.brake import Brake
from parachute.panic.service import EmergencyStop

router = APIRouter(prefix="/api", tags=["panic"])


def panic_of(request: Request) -> dict[str, Any] | None:
    """Since when all agents are stopped and by whom; None if they are not."""
    panic = Brake(request.app.state.home.root).panic
    return panic.as_json() if panic else None


@router.get("/panic")
async def get_panic(request: Request) -> dict[str, Any]:
    """Whether all agents are stopped: since when, and by whom."""
    return {"panic": panic_of(request)}


@router.post("/panic")
async def panic(request: Request) -> dict[str, Any]:
    """Stop all agents, schedules, hooks and outgoing connections now, and start none any more; the journal goes on.

    `warning` says what does not hold where the disk could not be written.
    """
    service: EmergencyStop = request.app.state.emergency_stop
    caller: Caller = request.scope["state"]["caller"]
    pulled = await service.pull(caller.name)
    return {"panic": pulled.as_json(), "warning": pulled.warning}


@router.post("/resume")
async def resume(request: Request) -> dict[str, Any]:
    """Let agents work again; answers what had stopped them."""
    service: EmergencyStop = request.app.state.emergency_stop
    released = await service.release()
    return {"panic": None, "was": released.as_json() if released else None}
