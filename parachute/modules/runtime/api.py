"""Routes that lead to any module: `GET /api/para/{id}`."""

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request

from parachute.base.answers import Answer
from parachute.base.errors import NotAllowed, NotFound
from parachute.base.services import provided
from parachute.core import ParaId
from parachute.modules.runtime.interfaces import Interfaces
from parachute.modules.runtime.service import Hosts
from parachute.security.keys.models import Caller

router = APIRouter(tags=["modules"])

_SECONDS = 30.0


_BRAIN = "BrainInterface"

HostsDependency = Annotated[Hosts, Depends(provided(Hosts))]
InterfacesDependency = Annotated[Interfaces, Depends(provided(Interfaces))]


class Resolved(Answer, frozen=True):
    """The module that owns a para-id, and the `item` as that module describes it."""

    id: str
    module: str
    item: Any


@router.get("/api/para/{identifier}")
async def resolve(
    identifier: str, service: HostsDependency, interfaces: InterfacesDependency, request: Request
) -> Resolved:
    """Resolve a para-id by the module that owns it, and a name or an older id as Brain does."""
    caller: Caller = request.scope["state"]["caller"]
    brain = None if identifier.startswith("para:") else interfaces.provider(_BRAIN)
    if brain is not None:
        _check_may(caller, brain.name)
        named = await interfaces.call_for_core(_BRAIN, "resolve", {"text": identifier}, _SECONDS)
        if not isinstance(named, str):
            raise NotFound(f"{brain.name} is not sure what {identifier[:80]!r} means.", key="para_id_unsure")
        identifier = named
    found = ParaId.parse(identifier)
    _check_may(caller, found.module)
    item = await service.ask(found.module, "para", {"id": str(found)}, _SECONDS)
    return Resolved(str(found), found.module, item.get("item") if isinstance(item, dict) else None)


def _check_may(caller: Caller, module: str) -> None:
    if not caller.may(module, "read"):
        raise NotAllowed(f"Reading what belongs to {module} is not allowed to this key.", key="not_readable_with_key")
