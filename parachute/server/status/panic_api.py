"""`/api/panic` and `/api/resume`: stopping all agents, and letting them work again."""

from fastapi import APIRouter, Request
from pydantic import BaseModel

from parachute.base.services import services_of
from parachute.config.settings.home import Home
from parachute.security.keys.models import Caller
from parachute.security.kill_switch.service import KillSwitchService
from parachute.security.kill_switch.switch import KillSwitch, Panic

router = APIRouter(prefix="/api", tags=["panic"])


class Switch(BaseModel):
    """The kill switch; null while agents may work."""

    panic: Panic | None


class Engaged(BaseModel):
    """The kill switch, and a warning where the disk could not be written."""

    panic: Panic
    warning: str | None


class Released(BaseModel):
    """Stop of all agents that has ended, null if there was none."""

    panic: None = None
    was: Panic | None


def panic_of(request: Request) -> Panic | None:
    """The time since when all agents are stopped, and by whom; None if they are not."""
    return KillSwitch(services_of(request).get(Home).root).panic


@router.get("/panic")
async def get_panic(request: Request) -> Switch:
    """The kill switch: since when all agents are stopped and by whom, or null."""
    return Switch(panic=panic_of(request))


@router.post("/panic")
async def panic(request: Request) -> Engaged:
    """Stop all agents, schedules, hooks and outgoing connections now, and start none any more; the journal goes on.

    `warning` says what does not hold where the disk could not be written.
    """
    caller: Caller = request.scope["state"]["caller"]
    stopped = await services_of(request).get(KillSwitchService).engage(caller.name)
    return Engaged(panic=stopped, warning=stopped.warning)


@router.post("/resume")
async def resume(request: Request) -> Released:
    """Let agents work again; answers what had stopped them."""
    return Released(was=await services_of(request).get(KillSwitchService).release())
