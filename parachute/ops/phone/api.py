"""Routes that let other devices reach this computer, and no longer."""

from typing import Annotated

from fastapi import APIRouter, Depends, Request

from parachute.base.services import provided
from parachute.ops.phone.models import Reach
from parachute.ops.phone.service import Phone
from parachute.security.keys.models import Caller

router = APIRouter(prefix="/api/phone", tags=["phone"])

PhoneDependency = Annotated[Phone, Depends(provided(Phone))]


@router.get("")
async def reach(service: PhoneDependency) -> Reach:
    """Devices that reach this computer, its addresses on their networks, and why the last change was taken back."""
    return await service.reach()


@router.post("")
async def let_in(request: Request, service: PhoneDependency) -> Reach:
    """Let the devices of its networks reach this computer: key, encryption, address and a restart at once; 409, and no change, where they cannot."""
    return await service.let_in(_caller(request))


@router.delete("")
async def shut_out(request: Request, service: PhoneDependency) -> Reach:
    """Let no other device reach this computer any more: their browsers are signed out, and it restarts."""
    return await service.shut_out(_caller(request))


def _caller(request: Request) -> Caller:
    found: Caller = request.scope["state"]["caller"]
    return found
