"""Routes of the curator."""

from typing import Annotated

from fastapi import APIRouter, Depends
from pydantic import BaseModel, ConfigDict, Field

from parachute.automation.curator.models import CuratorState
from parachute.automation.curator.service import Curator
from parachute.base.services import provided

router = APIRouter(prefix="/api/contexts", tags=["contexts"])

CuratorDependency = Annotated[Curator, Depends(provided(Curator))]


class Asked(BaseModel):
    """The folder whose file shall be reviewed; empty for the vault itself."""

    model_config = ConfigDict(extra="forbid", strict=True)

    folder: str = Field(max_length=4096)


class Queued(BaseModel):
    """The file whose review waits now."""

    watcher: str


@router.get("/curator")
async def get_curator(service: CuratorDependency) -> CuratorState:
    """The curator, what waits for it, and what it did."""
    return await service.shown()


@router.post("/curator/review")
async def ask_for_review(body: Asked, service: CuratorDependency) -> Queued:
    """Have the file of a folder reviewed now; 409 while the curator is off."""
    return Queued(watcher=await service.review(body.folder))
