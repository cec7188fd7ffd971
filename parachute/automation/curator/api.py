"""Routes of the curator."""

from typing import Annotated, Literal

from fastapi import APIRouter, Depends
from pydantic import BaseModel, ConfigDict, Field

from parachute.automation.curator.service import Curator
from parachute.base.services import provided

router = APIRouter(prefix="/api/contexts", tags=["contexts"])

CuratorDependency = Annotated[Curator, Depends(provided(Curator))]


class WaitingReview(BaseModel):
    """A file whose review waits, or is under way."""

    watcher: str
    changed: list[str]
    due_at: str
    running: bool
    attempts: int
    error: str | None


class CuratorRun(BaseModel):
    """One review that was made, or is under way."""

    model_config = ConfigDict(extra="ignore")

    id: str
    started: str
    ended: str | None
    status: str
    error: str | None
    session: str | None
    log: list[str]


class CuratorDocument(BaseModel):
    """The curator: its settings, what waits, why nothing is reviewed now, and its last runs, newest first."""

    mode: Literal["off", "propose", "write"]
    reviews_per_day: int
    reviews_today: int
    waiting: list[WaitingReview]
    held: str | None
    runs: list[CuratorRun]


class Asked(BaseModel):
    """The folder whose file shall be reviewed; empty for the vault itself."""

    model_config = ConfigDict(extra="forbid", strict=True)

    folder: str = Field(max_length=4096)


class Queued(BaseModel):
    """The file whose review waits now."""

    watcher: str


@router.get("/curator")
async def get_curator(service: CuratorDependency) -> CuratorDocument:
    """The curator, what waits for it, and what it did."""
    return CuratorDocument.model_validate(await service.shown())


@router.post("/curator/review")
async def ask_for_review(body: Asked, service: CuratorDependency) -> Queued:
    """Have the file of a folder reviewed now; 409 while the curator is off."""
    return Queued(watcher=await service.review(body.folder))
