"""Routes of notices to devices: a browser asks for them, and sees which others are told."""

from typing import Annotated
from urllib.parse import urlsplit

from fastapi import APIRouter, Depends, Request
from pydantic import BaseModel, ConfigDict, Field

from parachute.base.answers import Answer, Done
from parachute.base.errors import Conflict, NotAllowed
from parachute.base.services import provided
from parachute.connectors.push.models import LONGEST_ADDRESS, State, Subscription
from parachute.connectors.push.service import Push
from parachute.connectors.push.telling import Told
from parachute.connectors.texts import Language
from parachute.security.keys.models import Caller, check_confirmed
from parachute.web.access.owner import is_owner

router = APIRouter(prefix="/api/push", tags=["push"])

PushDependency = Annotated[Push, Depends(provided(Push))]


class SubscriptionBody(BaseModel):
    """The subscription that the browser made, and the language of its notices; without it that of before."""

    model_config = ConfigDict(extra="forbid", strict=True)

    endpoint: str = Field(min_length=1, max_length=LONGEST_ADDRESS)
    key: str = Field(min_length=1, max_length=200)
    secret: str = Field(min_length=1, max_length=100)
    language: Language | None = None


class ToldDevice(Answer, frozen=True):
    """A device that is told, or waits for the owner to allow its push service; `problem` is why the last notice did not go out."""

    id: str
    name: str
    service: str
    state: State
    since: str
    said_at: str | None
    problem: str | None
    is_current: bool


class ToldDevices(Answer, frozen=True):
    """The public key of this computer for push services, and the devices that are told: one's own, with admin rights all."""

    key: str
    devices: list[ToldDevice]


@router.get("")
async def list_told_devices(request: Request, push: PushDependency) -> ToldDevices:
    """The devices that are told what waits, and what a browser needs to become one."""
    caller = _caller(request)
    sees_all = await is_owner(request)
    devices = [_shown(push, each, caller) for each in await push.devices()]
    return ToldDevices(await push.public_key(), [each for each in devices if sees_all or each.is_current])


@router.put("/subscription")
async def subscribe(request: Request, body: SubscriptionBody, push: PushDependency) -> ToldDevice:
    """Tell this browser from now on; where its push service is none that is known, the owner is asked first."""
    caller = _caller(request)
    if caller.kind != "browser" or caller.key is None:
        raise Conflict("Only a browser that is signed in can be told.", "Sign in here first.", key="no_browser")
    before = [each.subscription.language for each in await push.devices() if each.device.id == caller.key]
    language: Language = body.language or (before[0] if before else "en")
    # Browsers have push services over TLS alone, and on this computer itself.
    address = f"https://{urlsplit(request.scope['state']['origin']).netloc}"
    subscription = Subscription(caller.key, body.endpoint, body.key, body.secret, language, address=address)
    await push.subscribe(subscription, f"{caller.kind} {caller.name}", is_owner=await is_owner(request))
    return next(_shown(push, each, caller) for each in await push.devices() if each.device.id == caller.key)


@router.delete("/devices/{identifier}")
async def stop_telling(request: Request, identifier: str, push: PushDependency) -> Done:
    """Tell a device nothing any more; everybody may end that of their own, and the owner that of the others."""
    await _check(request, identifier)
    await push.remove(identifier)
    return Done()


@router.post("/devices/{identifier}/test")
async def test_device(request: Request, identifier: str, push: PushDependency) -> Done:
    """Send a device a notice that says nothing; errors say why its push service did not take it."""
    await _check(request, identifier)
    await push.test(identifier)
    return Done()


async def _check(request: Request, device: str) -> None:
    """Errors: NotAllowed, ParachuteError (`confirmation_needed`) for a device of others."""
    caller = _caller(request)
    if caller.kind == "browser" and caller.key == device:
        return
    if not await is_owner(request):
        raise NotAllowed("This is another device, which needs admin rights.", key="not_own_browser")
    check_confirmed(caller)


def _shown(push: Push, told: Told, caller: Caller) -> ToldDevice:
    found = told.subscription
    return ToldDevice(
        id=told.device.id,
        name=told.device.label,
        service=found.target.host,
        state=push.state(told),
        since=found.since,
        said_at=found.said_at,
        problem=found.problem,
        is_current=caller.kind == "browser" and caller.key == told.device.id,
    )


def _caller(request: Request) -> Caller:
    found: Caller = request.scope["state"]["caller"]
    return found
