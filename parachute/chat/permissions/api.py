"""Routes of a session with its permissions (contract, section 2)."""

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query, Request, Response
from msgspec import to_builtins

from parachute.base.services import provided
from parachute.chat.agent_processes.program_tools import PROGRAM_TOOLS
from parachute.chat.permissions.request import Configuration
from parachute.chat.permissions.service import Permissions
from parachute.chat.permissions.templates import TEMPLATES
from parachute.chat.sessions.api import CallerDependency, SessionsDependency, check_level
from parachute.chat.sessions.messages import NEWEST
from parachute.chat.sessions.models import Session
from parachute.web.access.owner import require_owner

router = APIRouter(prefix="/api/chat", tags=["sessions"])

PermissionsDependency = Annotated[Permissions, Depends(provided(Permissions))]


@router.get("/permission-templates")
async def list_templates() -> dict[str, Any]:
    """The templates of permissions, and the capabilities that there are, for whoever chooses."""
    return {
        "templates": [each.as_json() for each in TEMPLATES],
        "capabilities": [{"name": tool.name, "does": tool.does} for tool in PROGRAM_TOOLS],
    }


@router.get("/{session}")
async def get_session(
    session: str,
    service: SessionsDependency,
    permissions: PermissionsDependency,
    limit: Annotated[int, Query(ge=1, le=5000)] = NEWEST,
) -> Response:
    """A session with its permissions and its newest messages, so many at most."""
    found = await service.get(session)
    limits = to_builtins(await permissions.most(found))
    more = {"permissions": await permissions.as_json(found), "sandbox_limits": limits}
    return Response(await service.with_messages(session, more, limit), media_type="application/json")


@router.patch("/{session}/config")
async def configure(
    request: Request, session: str, changes: Configuration, service: PermissionsDependency, who: CallerDependency
) -> dict[str, Any]:
    """Change title, trust level, workspace, model, permissions, or how a bot answers."""
    return await _configured(request, session, changes, service, who, begin=False)


@router.post("/{session}/activate")
async def activate(
    request: Request, session: str, changes: Configuration, service: PermissionsDependency, who: CallerDependency
) -> dict[str, Any]:
    """Configure a session that waited for it, and let it begin."""
    return await _configured(request, session, changes, service, who, begin=True)


async def _configured(
    request: Request,
    session: str,
    changes: Configuration,
    service: Permissions,
    who: CallerDependency,
    *,
    begin: bool,
) -> dict[str, Any]:
    await check_level(request, changes.trust_level)
    if changes.changes_permissions:
        await require_owner(request, "Changing what a conversation may use")
    admin = who.may("chat", "admin")
    found = await service.configure(session, changes, approved_by=who.name, admin=admin, begin=begin)
    return {"session": await _shown(found, service)}


async def _shown(session: Session, service: Permissions) -> dict[str, Any]:
    return {**session.as_json(), "permissions": await service.as_json(session)}
