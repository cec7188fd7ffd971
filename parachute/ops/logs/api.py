"""Routes of logs: which there are, the end of one, and what comes."""

from typing import Annotated

from fastapi import APIRouter, Depends, Query, Response
from msgspec import to_builtins
from pydantic import BaseModel

from parachute.base.services import provided
from parachute.ops.logs.service import MOST_LINES, Logs
from parachute.web.http.event_stream import EventStream

router = APIRouter(prefix="/api/logs", tags=["logs"])

LogsDependency = Annotated[Logs, Depends(provided(Logs))]


class ShownLog(BaseModel):
    """The log of a unit; `bytes` is its size."""

    unit: str
    bytes: int
    changed_at: str


class Units(BaseModel):
    """The logs that there are."""

    units: list[ShownLog]


class Lines(BaseModel):
    """Lines of a log, the newest last."""

    unit: str
    lines: list[str]


@router.get("/units")
async def list_units(service: LogsDependency) -> Units:
    """The units of which there is a log."""
    return Units(units=[ShownLog.model_validate(to_builtins(each)) for each in await service.units()])


@router.get("/{unit}", response_model=Lines, responses={200: {"content": {"text/event-stream": {}}}})
async def read_log(
    unit: str,
    service: LogsDependency,
    lines: Annotated[int, Query(ge=0, le=MOST_LINES)] = 200,
    follow: bool = False,
) -> Lines | Response:
    """The last lines of a log, without what looks like a secret; with `follow`, a stream of them and of those that come."""
    if follow:
        return EventStream(await service.follow(unit, lines))
    name, found = await service.tail(unit, lines)
    return Lines(unit=name, lines=found)
