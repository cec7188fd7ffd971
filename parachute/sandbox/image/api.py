"""Routes of the sandbox's image (contract, section 9)."""

from typing import Annotated

from fastapi import APIRouter, Depends, Response

from parachute.base.services import provided
from parachute.sandbox.image.service import Builds
from parachute.web.http.event_stream import EventStream

router = APIRouter(prefix="/api/sandbox", tags=["sandbox"])


BuildsDependency = Annotated[Builds, Depends(provided(Builds))]


@router.post("/build", response_class=Response, responses={200: {"content": {"text/event-stream": {}}}})
async def build(service: BuildsDependency) -> Response:
    """Build the image that sandboxes start from, or follow the build that runs; it goes on when the reader leaves."""
    return EventStream(service.begin())


@router.delete("/build")
async def cancel(service: BuildsDependency) -> dict[str, bool]:
    """End the build that runs; the image before stays."""
    return {"cancelled": await service.cancel()}
