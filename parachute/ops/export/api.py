"""The route of the export."""

from typing import Annotated, Any
from urllib.parse import quote

from fastapi import APIRouter, Depends, Request
from starlette.responses import StreamingResponse

from parachute.base.services import provided
from parachute.chat.sessions.api import SessionsDependency
from parachute.ops.export.service import Export, Form
from parachute.security.keys.models import Caller

router = APIRouter(prefix="/api/export", tags=["export"])
conversation_router = APIRouter(prefix="/api/chat", tags=["sessions"])

ExportDependency = Annotated[Export, Depends(provided(Export))]


@router.get("", response_class=StreamingResponse, responses={200: {"content": {"application/zip": {}}}})
async def export(request: Request, service: ExportDependency) -> StreamingResponse:
    """Journal, entities, conversations, contexts and suggestions as plain files in a ZIP archive, made while it is sent."""
    caller: Caller = request.scope["state"]["caller"]
    headers = {"content-disposition": 'attachment; filename="parachute-brain.zip"', "cache-control": "no-store"}
    return StreamingResponse(service.stream(caller), media_type="application/zip", headers=headers)


_FILES: dict[Form, dict[str, Any]] = {"markdown": {"text/markdown": {}}, "html": {"text/html": {}}}


@conversation_router.get(
    "/{session}/export",
    response_class=StreamingResponse,
    responses={200: {"content": _FILES["markdown"] | _FILES["html"]}},
)
async def export_conversation(
    session: str, sessions: SessionsDependency, service: ExportDependency, form: Form = "markdown"
) -> StreamingResponse:
    """One conversation as a file to read or to share: its title, and who said what when."""
    name, parts = await service.conversation(await sessions.get(session), form)
    (media_type,) = _FILES[form]
    headers = {"content-disposition": f"attachment; filename*=UTF-8''{quote(name)}", "cache-control": "no-store"}
    return StreamingResponse(parts, media_type=media_type, headers=headers)
