"""Routes of decisions about hosts."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Literal

from fastapi import APIRouter, Depends, Query, Request
from pydantic import BaseModel, ConfigDict, Field

from parachute.base.answers import Answer, Done
from parachute.base.services import provided, services_of
from parachute.chat.network.models import DecidedHost
from parachute.chat.network.service import Networks
from parachute.chat.sessions.api import CallerDependency
from parachute.chat.workspaces.service import Workspaces
from parachute.web.access.owner import require_owner

router = APIRouter(prefix="/api/network", tags=["network"])

NetworksDependency = Annotated[Networks, Depends(provided(Networks))]
Slug = Annotated[str, Field(max_length=40)]
Host = Annotated[str, Field(min_length=1, max_length=300)]


class HostDecision(BaseModel):
    """A host that conversations of a workspace, or without one, may always or never reach."""

    model_config = ConfigDict(extra="forbid", strict=True)

    host: Host
    choice: Literal["always", "never"]
    workspace: Slug = ""


class DecidedHosts(Answer, frozen=True):
    """Hosts that were allowed or refused for good, and the presets of `network.presets`."""

    decisions: Sequence[DecidedHost]
    presets: Mapping[str, Sequence[str]]


@router.get("/decisions")
async def list_decisions(service: NetworksDependency) -> DecidedHosts:
    """Hosts that were allowed or refused for good, and the presets of `network.presets`."""
    return DecidedHosts(service.decisions(), service.presets)


@router.put("/decisions")
async def decide_host(
    request: Request, body: HostDecision, service: NetworksDependency, who: CallerDependency
) -> DecidedHost:
    """Allow or refuse a host, from now on and also in conversations that are open."""
    await require_owner(request, "Deciding about hosts")
    if body.workspace:
        services_of(request).get(Workspaces).get(body.workspace)
    return await service.decide(body.workspace, body.host, body.choice, f"{who.kind} {who.name}")


@router.delete("/decisions")
async def forget_decision(
    request: Request,
    service: NetworksDependency,
    who: CallerDependency,
    host: Annotated[str, Query(min_length=1, max_length=300)],
    workspace: Annotated[str, Query(max_length=40)] = "",
) -> Done:
    """Take a decision back: the host is asked about again."""
    await require_owner(request, "Deciding about hosts")
    await service.forget(workspace, host, f"{who.kind} {who.name}")
    return Done()
