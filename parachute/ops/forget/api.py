"""Routes of forgetting: the plan, applying it, and its report."""

from typing import Annotated

from fastapi import APIRouter, Depends, Request
from pydantic import BaseModel, ConfigDict, Field

from parachute.base.answers import Done
from parachute.base.services import provided
from parachute.ops.forget.models import Choice, Forgetting, Plan
from parachute.ops.forget.service import Forget
from parachute.security.keys.models import Caller

router = APIRouter(prefix="/api/forget", tags=["forget"])

ForgetDependency = Annotated[Forget, Depends(provided(Forget))]


class WantedWords(BaseModel):
    """The words, in the body of a request: no log has it."""

    model_config = ConfigDict(extra="forbid", strict=True)

    words: Annotated[str, Field(min_length=1, max_length=1000)]


class Chosen(BaseModel):
    """A choice for each place that a plan asks about, by their ids; `hash` is that of the plan."""

    model_config = ConfigDict(extra="forbid", strict=True)

    plan: Annotated[str, Field(max_length=64)]
    hash: Annotated[str, Field(max_length=128)]
    choices: Annotated[dict[str, Choice], Field(max_length=5000)]


@router.get("")
async def forgetting(service: ForgetDependency) -> Forgetting:
    """The report of the last words that were forgotten, without them, and whether a removal is under way."""
    return await service.state()


@router.post("")
async def plan(body: WantedWords, service: ForgetDependency) -> Plan:
    """Search every file and table of this computer for words, and plan what becomes of each; nothing changes."""
    return await service.plan(body.words)


@router.post("/apply", status_code=202)
async def apply(request: Request, body: Chosen, service: ForgetDependency) -> Done:
    """Remove the words as chosen, for good: the computer starts anew meanwhile. 409 where anything asked about has changed since the plan."""
    caller: Caller = request.scope["state"]["caller"]
    await service.apply(body.plan, body.hash, body.choices, caller.name or "owner")
    return Done()
