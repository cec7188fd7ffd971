"""The route of the prompt's preview (contract, section 6)."""

from typing import Annotated

from fastapi import APIRouter, Depends, Query, Request

from parachute.base.services import provided
from parachute.chat.contexts.api import ContextsDependency
from parachute.chat.runs.preview import PromptPreview, ShownPrompt
from parachute.chat.runs.request import PathText, TurnRequest
from parachute.chat.sessions.api import SessionsDependency, check_level
from parachute.web.access.owner import is_owner

router = APIRouter(prefix="/api/prompt", tags=["contexts"])

PreviewDependency = Annotated[PromptPreview, Depends(provided(PromptPreview))]


@router.get("/preview")
async def preview(
    request: Request,
    service: PreviewDependency,
    known: ContextsDependency,
    sessions: SessionsDependency,
    working_directory: Annotated[PathText | None, Query(alias="workingDirectory")] = None,
    agent_path: Annotated[PathText | None, Query(alias="agentPath")] = None,
    contexts: Annotated[str | None, Query(max_length=65536)] = None,
    session_id: Annotated[str | None, Query(alias="sessionId", max_length=64)] = None,
) -> ShownPrompt:
    """The system prompt of the next turn of a session, or of a new one that begins so, with its token counts."""
    by_owner = await is_owner(request)
    chosen = None if contexts is None else await known.split(contexts)
    if session_id:
        await check_level(request, (await sessions.get(session_id)).trust_level, is_decision=False)
        return await service.of_session(session_id, chosen, by_owner=by_owner)
    beginning = TurnRequest(
        message="(preview)", working_directory=working_directory or None, agent_path=agent_path or None
    )
    return await service.of_new(beginning, chosen or [], by_owner=by_owner)
