"""Routes of runs that begin with the owner's word; the inbox answers those that wait."""

from collections.abc import Mapping
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request
from pydantic import BaseModel, ConfigDict, Field

from parachute.automation.agent_requests.inbox import item_of
from parachute.automation.agent_requests.models import AgentRequest, Status
from parachute.automation.agent_requests.service import AgentRequests
from parachute.base.answers import Answer
from parachute.base.services import provided
from parachute.security.keys.models import Caller
from parachute.web.access.owner import require_owner

router = APIRouter(prefix="/api/agent-runs", tags=["modules"])

RequestsDependency = Annotated[AgentRequests, Depends(provided(AgentRequests))]


class NewRun(BaseModel):
    """An agent of a module's manifest, and what it shall do."""

    model_config = ConfigDict(extra="forbid", strict=True)

    module: str = Field(min_length=1, max_length=40)
    agent: str = Field(min_length=1, max_length=40)
    prompt: str = Field(min_length=1, max_length=20_000)


class WaitingItem(Answer, frozen=True):
    """The item of the inbox by which a run is answered, and the hash of what is shown there."""

    id: str
    hash: str


class RequestedRun(Answer, frozen=True, kw_only=True):
    """A run; `rights` is what the owner sees of it before the answer, `item` where that is given while it waits."""

    id: str
    module: str
    agent: str
    status: Status
    prompt: str
    since: str
    session_id: str | None
    text: str
    error: str | None
    item: WaitingItem | None
    rights: Mapping[str, Any]


class RequestedRuns(Answer, frozen=True):
    """Runs, the newest first."""

    runs: list[RequestedRun]


@router.get("")
async def list_runs(requests: RequestsDependency) -> RequestedRuns:
    """Runs that wait for a yes, run, or ended lately, the newest first."""
    return RequestedRuns([_shown(each) for each in requests.requests()])


@router.get("/{identifier}")
async def get_run(identifier: str, requests: RequestsDependency) -> RequestedRun:
    """One run: what it may do, and what became of it."""
    return _shown(requests.request(identifier))


@router.post("")
async def start_run(body: NewRun, request: Request, requests: RequestsDependency) -> RequestedRun:
    """Start an agent of a module as the owner; one that needs a yes each time waits for it in the inbox."""
    await require_owner(request, "Starting an agent of a module")
    caller: Caller = request.scope["state"]["caller"]
    return _shown(await requests.start(body.module, body.agent, body.prompt, f"{caller.kind} {caller.name}"))


def _shown(request: AgentRequest) -> RequestedRun:
    item = item_of(request)
    return RequestedRun(
        id=request.id,
        module=request.module.name,
        agent=request.agent,
        status=request.status,
        prompt=request.prompt,
        since=request.since,
        session_id=request.session,
        text=request.text,
        error=request.error,
        item=WaitingItem(item.id, item.hash) if request.status == "waiting" else None,
        rights=item.details,
    )
