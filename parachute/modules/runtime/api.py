"""Routes that lead to any module: `GET /api/para/{id}`."""

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request

from parachute.core import ParaId
from parachute.errors import NotAllowed
from parachute.hosts.service import Hosts
from parachute.keys.models import Caller

router = APIRouter(tags=["modules"])

_SECONDS = 30.0


def hosts(request: Request) -> Hosts:
    """The application's module hosts."""
    service: Hosts = request.app.state.hosts
    return service


HostsDependency = Annotated[Hosts, Depends(hosts)]


@router.get("/api/para/{identifier}")
async def resolve(identifier: str, service: HostsDependency, request: Request) -> dict[str, Any]:
    """What a para-id stands for, as the module says that owns it."""
    found = ParaId.parse(identifier)
    caller: Caller = request.scope["state"]["caller"]
    if not caller.may(found.module, "read"):
        raise NotAllowed(f"Reading what belongs to {found.module} is not allowed to this key.")
    item = await service.ask(found.module, "para", {"id": str(found)}, _SECONDS)
    return {"id": str(found), "module": found.module, "item": item.get("item") if isinstance(item, dict) else None}
