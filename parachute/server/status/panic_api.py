"""`/api/panic` and `/api/resume`: stopping all agents, and letting them work again."""

from typing import Any

from fastapi import APIRouter, Request

from parachute.base.services import services_of
from parachute.config.settings.home import Home
from parachute.security.keys.models import Caller
from parachute.security.kill_switch.service import KillSwitchService
from parachute.security.kill_switch.switch import KillSwitch

router = APIRouter(prefix="/api", tags=["panic"])


def panic_of(request: Request) -> dict[str, Any] | None:
    """The time since when all agents are stopped, and by whom; None if they are not."""
    panic = KillSwitch(services_of(request).get(Home).root).panic
    return panic.as_json() if panic else None


@router.get("/panic")
async def get_panic(request: Request) -> dict[str, Any]:
    """The kill switch: since when all agents are stopped and by whom, or null."""
    return {"panic": panic_of(request)}


@router.post("/panic")
async def panic(request: Request) -> dict[str, Any]:
    """Stop all agents, schedules, hooks and outgoing connections now, and start none any more; the journal goes on.

    `warning` says what does not hold where the disk could not be written.
    """
    caller: Caller = request.scope["state"]["caller"]
    stopped = await services_of(request).get(KillSwitchService).engage(caller.name)
    return {"panic": stopped.as_json(), "warning": stopped.warning}


@router.post("/resume")
async def resume(request: Request) -> dict[str, Any]:
    """Let agents work again; answers what had stopped them."""
    released = await services_of(request).get(KillSwitchService).release()
    return {"panic": None, "was": released.as_json() if released else None}
