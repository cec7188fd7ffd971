"""Routes of the owner's conversations with Claude Code (contract, section 7)."""

import asyncio
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query, Request, Response
from pydantic import BaseModel, ConfigDict, Field

from parachute.base.services import provided
from parachute.chat.claude_code_import.service import ClaudeCode
from parachute.chat.sessions.transcript import encoded
from parachute.web.access.owner import is_owner, require_owner

router = APIRouter(prefix="/api/claude-code", tags=["claude code"])

_PATH = 4096
_LISTED = 500


ServiceDependency = Annotated[ClaudeCode, Depends(provided(ClaudeCode))]
Days = Annotated[int, Query(ge=0, le=36_500)]
ProjectPath = Annotated[str | None, Query(alias="path", max_length=_PATH)]


class AdoptionRequest(BaseModel):
    """The folder to work in instead of the conversation's own."""

    model_config = ConfigDict(extra="ignore", strict=True)

    working_directory: str | None = Field(default=None, alias="workingDirectory", max_length=_PATH)


@router.get("/recent")
async def recent(service: ServiceDependency, limit: Annotated[int, Query(ge=1, le=_LISTED)] = 100) -> Response:
    """The newest conversations with Claude Code on this computer, of all projects."""
    return await _json({"sessions": await service.recent(limit)})


@router.get("/projects")
async def projects(service: ServiceDependency) -> Response:
    """The folders in which there were conversations with Claude Code."""
    return await _json({"projects": await service.projects()})


@router.get("/sessions")
async def list_sessions(
    service: ServiceDependency, path: Annotated[str, Query(min_length=1, max_length=_PATH)]
) -> Response:
    """The newest conversations with Claude Code in the project at `path`."""
    return await _json({"sessions": await service.of_project(path, _LISTED)})


@router.get("/sessions/{session}")
async def get_session(session: str, service: ServiceDependency, path: ProjectPath = None) -> Response:
    """A conversation with Claude Code and its newest messages."""
    return await _json(await service.details(session, path))


@router.get("/expiring")
async def expiring(service: ServiceDependency, days: Days = 7) -> Response:
    """The conversations that Claude Code deletes in the next `days` and that are not here, and after how many days it does so."""
    kept, found = await service.expiring(days)
    return await _json({"cleanupPeriodDays": kept, "sessions": [each.as_json() for each in found]})


@router.post("/keep")
async def keep(request: Request, service: ServiceDependency, days: Days = 7) -> dict[str, Any]:
    """Adopt all conversations that Claude Code deletes in the next `days`."""
    kept, failed = await service.keep(days, by_owner=await is_owner(request))
    return {"kept": kept, "failed": [{"sessionId": session, "reason": reason} for session, reason in failed]}


@router.post("/adopt/{session}")
async def adopt(
    request: Request,
    session: str,
    service: ServiceDependency,
    path: ProjectPath = None,
    wanted: AdoptionRequest | None = None,
) -> Response:
    """Go on here with a conversation with Claude Code; the original stays as it is."""
    directory = wanted.working_directory if wanted else None
    by_owner = await is_owner(request)
    if directory and not by_owner:
        await require_owner(request, "workingDirectory: choosing the folder that an agent writes to")
    adoption = await service.adopt(session, path, directory, by_owner=by_owner)
    return await _json(adoption.as_json())


async def _json(value: dict[str, Any]) -> Response:
    # What people wrote may hold halves of characters, and megabytes take long to write as text.
    return Response(await asyncio.to_thread(encoded, value), media_type="application/json")
