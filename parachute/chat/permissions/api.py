"""Routes of a session with its permissions (contract, section 2)."""

from collections.abc import Sequence
from typing import Annotated

from fastapi import APIRouter, Depends, Query, Request, Response
from msgspec import field, to_builtins
from msgspec.structs import asdict

from parachute.base.answers import Answer
from parachute.base.services import provided
from parachute.chat.agent_processes.program_tools import PROGRAM_TOOLS
from parachute.chat.permissions.request import Configuration
from parachute.chat.permissions.service import Permissions
from parachute.chat.permissions.templates import TEMPLATES, ShownPermissions, Template
from parachute.chat.sessions.api import CallerDependency, SessionsDependency, check_level
from parachute.chat.sessions.messages import NEWEST, Message
from parachute.chat.sessions.models import ShownSession
from parachute.sandbox.engines.limits import Limits
from parachute.web.access.owner import require_owner

router = APIRouter(prefix="/api/chat", tags=["sessions"])

PermissionsDependency = Annotated[Permissions, Depends(provided(Permissions))]


class Capability(Answer, frozen=True):
    """A tool of the agent's program, and what it does."""

    name: str
    does: str


class Templates(Answer, frozen=True):
    """The templates of permissions, and the capabilities that there are."""

    templates: Sequence[Template]
    capabilities: Sequence[Capability]


class PermittedSession(ShownSession, frozen=True):
    """A session with its permissions."""

    permissions: ShownPermissions


class OpenedSession(PermittedSession, frozen=True):
    """A session with its permissions, the limits above which none of its sandbox can be, and its newest messages."""

    sandbox_limits: Limits = field(name="sandbox_limits")
    messages: list[Message]


class ConfiguredSession(Answer, frozen=True):
    """A session that was changed."""

    session: PermittedSession


@router.get("/permission-templates")
async def list_templates() -> Templates:
    """The templates of permissions, and the capabilities that there are, for whoever chooses."""
    return Templates(TEMPLATES, [Capability(tool.name, tool.does) for tool in PROGRAM_TOOLS])


@router.get("/{session}", response_model=OpenedSession)
async def get_session(
    session: str,
    service: SessionsDependency,
    permissions: PermissionsDependency,
    limit: Annotated[int, Query(ge=1, le=5000)] = NEWEST,
) -> Response:
    """A session with its permissions and its newest messages, so many at most."""
    found = await service.get(session)
    more = {"permissions": await permissions.shown(found), "sandbox_limits": await permissions.most(found)}
    return Response(await service.with_messages(session, to_builtins(more), limit), media_type="application/json")


@router.patch("/{session}/config")
async def configure(
    request: Request, session: str, changes: Configuration, service: PermissionsDependency, who: CallerDependency
) -> ConfiguredSession:
    """Change title, trust level, workspace, model, permissions, or how a bot answers."""
    return await _configured(request, session, changes, service, who, begin=False)


@router.post("/{session}/activate")
async def activate(
    request: Request, session: str, changes: Configuration, service: PermissionsDependency, who: CallerDependency
) -> ConfiguredSession:
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
) -> ConfiguredSession:
    await check_level(request, changes.trust_level)
    if changes.changes_permissions:
        await require_owner(request, "Changing what a conversation may use")
    admin = who.may("chat", "admin")
    found = await service.configure(session, changes, approved_by=who.name, admin=admin, begin=begin)
    shown = asdict(ShownSession.showing(found))
    return ConfiguredSession(PermittedSession(**shown, permissions=await service.shown(found)))
