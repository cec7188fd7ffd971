"""Routes that lead to any module: `GET /api/para/{id}`."""

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request

from parachute.base.errors import NotAllowed
from parachute.base.services import provided
from parachute.core import ParaId
from parachute.modules.runtime.service import Hosts
from parachute.security.keys.models import Caller

router = APIRouter(tags=["modules"])

_SECONDS = 30.0


HostsDependency = Annotated[Hosts, Depends(provided(Hosts))]


@router.get("/api/para/{identifier}")
async def resolve(identifier: str, service: HostsDependency, request: Request) -> dict[str, Any]:
    """Resolve a para-id by the module that owns it."""
    found = ParaId.parse(identifier)
    caller: Caller = request.scope["state"]["caller"]
    if not caller.may(found.module, "read"):
        raise NotAllowed(f"Reading what belongs to {found.module} is not allowed to this key.")
    item = await service.ask(found.module, "para", {"id": str(found)}, _SECONDS)
    return {"id": str(found), "module": found.module, "item": item.get("item") if isinstance(item, dict) else None}
