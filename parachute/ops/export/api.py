"""The route of the export."""

from typing import Annotated

from fastapi import APIRouter, Depends, Request
from starlette.responses import StreamingResponse

from parachute.base.services import provided
from parachute.ops.export.service import Export
from parachute.security.keys.models import Caller

router = APIRouter(prefix="/api/export", tags=["export"])

ExportDependency = Annotated[Export, Depends(provided(Export))]


@router.get("", response_class=StreamingResponse, responses={200: {"content": {"application/zip": {}}}})
async def export(request: Request, service: ExportDependency) -> StreamingResponse:
    """Journal, entities, conversations, contexts and suggestions as plain files in a ZIP archive, made while it is sent."""
    caller: Caller = request.scope["state"]["caller"]
    headers = {"content-disposition": 'attachment; filename="parachute-brain.zip"', "cache-control": "no-store"}
    return StreamingResponse(service.stream(caller), media_type="application/zip", headers=headers)
