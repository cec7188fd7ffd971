"""Routes of workspaces (contract, section 4)."""

from typing import Annotated

from fastapi import APIRouter, Depends, Request

from parachute.base.answers import Answer, Done
from parachute.base.services import provided
from parachute.chat.sessions.api import CallerDependency
from parachute.chat.workspaces.models import Workspace
from parachute.chat.workspaces.request import Changes, NewWorkspace
from parachute.chat.workspaces.service import Workspaces
from parachute.web.access.owner import require_owner

router = APIRouter(prefix="/api/workspaces", tags=["workspaces"])

_DIRECT = (
    "default_trust_level: the sessions of a direct workspace run with the owner's rights, and making or changing one"
)
_FOLDER = "working_directory: agents write there what programs of the owner read, and choosing it"
_APPLY = "apply: the owner's programs read what agents write, and saying how it gets into a folder"
_AT_HOME = "only_at_home: a model elsewhere reads what was said at home, and letting conversations go there"

WorkspacesDependency = Annotated[Workspaces, Depends(provided(Workspaces))]


class WorkspaceList(Answer, frozen=True):
    """All workspaces, by name."""

    workspaces: list[Workspace]


class OneWorkspace(Answer, frozen=True):
    """One workspace."""

    workspace: Workspace


@router.get("")
async def list_workspaces(service: WorkspacesDependency) -> WorkspaceList:
    """All workspaces, by name."""
    return WorkspaceList(service.all())


@router.get("/{slug}")
async def get_workspace(slug: str, service: WorkspacesDependency) -> OneWorkspace:
    """One workspace."""
    return OneWorkspace(service.get(slug))


@router.post("")
async def create_workspace(
    request: Request, body: NewWorkspace, service: WorkspacesDependency, who: CallerDependency
) -> OneWorkspace:
    """Make a workspace; its slug follows from its name and stays."""
    if body.level() == "direct":
        await require_owner(request, _DIRECT)
    if body.working_directory:
        await require_owner(request, _FOLDER)
    if body.apply:
        await require_owner(request, _APPLY)
    return OneWorkspace(await service.create(body, who.name))


@router.put("/{slug}")
async def update_workspace(
    request: Request, slug: str, body: Changes, service: WorkspacesDependency, who: CallerDependency
) -> OneWorkspace:
    """Change what is sent; null clears. A lower trust level holds for the conversations that there are, too."""
    if as_owner := "direct" in (body.level(), service.get(slug).default_trust_level):
        await require_owner(request, _DIRECT)
    if body.working_directory and body.working_directory != service.get(slug).working_directory:
        await require_owner(request, _FOLDER)
    if "apply" in body.model_fields_set and body.apply != service.get(slug).apply:
        await require_owner(request, _APPLY)
    if "only_at_home" in body.model_fields_set and service.get(slug).only_at_home and not body.only_at_home:
        await require_owner(request, _AT_HOME)
    return OneWorkspace(await service.update(slug, body, who.name, as_owner=as_owner))


@router.delete("/{slug}")
async def delete_workspace(slug: str, service: WorkspacesDependency) -> Done:
    """Delete a workspace; its conversations stay."""
    await service.delete(slug)
    return Done()
