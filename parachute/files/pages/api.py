"""The route that saves a page of the web."""

from typing import Annotated

from fastapi import APIRouter, Depends, Request
from pydantic import BaseModel, ConfigDict, Field

from parachute.base.services import provided
from parachute.files.pages.service import SavedPage, WebPages
from parachute.web.access.owner import acting

router = APIRouter(prefix="/api/files/pages", tags=["files"])

PagesDependency = Annotated[WebPages, Depends(provided(WebPages))]


class PageAddress(BaseModel):
    """The address of a page."""

    model_config = ConfigDict(extra="forbid", strict=True)

    url: Annotated[str, Field(min_length=1, max_length=2_000)]


@router.post("")
async def save_page(request: Request, body: PageAddress, service: PagesDependency) -> SavedPage:
    """Load a page of the internet, and write what it says into a new note in `Inbox`; `leads_to` names another host, which was not asked."""
    return await service.save(body.url, await acting(request))
