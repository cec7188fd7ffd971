"""Routes of the audit log: records page by page, the graph of what asked whom, verification, and everything as a file."""

import asyncio
import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Annotated

from fastapi import APIRouter, Depends, Query
from msgspec import to_builtins
from pydantic import BaseModel
from starlette.responses import StreamingResponse

from parachute.base.clock import as_text
from parachute.base.services import provided
from parachute.security.audit import reading
from parachute.security.audit.graph import Graph, graph
from parachute.security.audit.reading import Filter, Page
from parachute.security.audit.service import Audit
from parachute.security.audit.verifying import Kind, verify

router = APIRouter(prefix="/api/audit", tags=["audit"])

AuditDependency = Annotated[Audit, Depends(provided(Audit))]
_Text = Annotated[str | None, Query(min_length=1, max_length=500)]
_MOST_HOURS = 24 * 366


def _filter(
    since: Annotated[datetime | None, Query(alias="from")] = None,
    until: Annotated[datetime | None, Query(alias="to")] = None,
    source: _Text = None,
    module: _Text = None,
    session: _Text = None,
    file: _Text = None,
    host: _Text = None,
    event: _Text = None,
) -> Filter:
    return Filter(_zoned(since), _zoned(until), source, module, session, file, host, event)


FilterDependency = Annotated[Filter, Depends(_filter)]


class RecentGraph(Graph):
    """The graph of the records since a moment."""

    since: str


class ShownProblem(BaseModel):
    """Problem at a line of a day, with a sentence."""

    day: str
    line: int | None
    kind: Kind
    sentence: str


class ShownVerification(BaseModel):
    """The numbers of days and records that were looked at, of older records that are not chained, and what is wrong."""

    days: int
    records: int
    before: int
    problems: list[ShownProblem]
    is_whole: bool


@router.get("")
async def records(
    service: AuditDependency,
    wanted: FilterDependency,
    limit: int = Query(reading.PAGE, ge=1, le=reading.MOST),
    before: str | None = Query(None, max_length=40),
) -> Page:
    """Records, newest first; `next` is the `before` of the next page, null at the end."""
    await service.written()
    return await asyncio.to_thread(reading.page, service.days, wanted, limit, before)


@router.get("/graph")
async def activity(service: AuditDependency, hours: int = Query(24, ge=1, le=_MOST_HOURS)) -> RecentGraph:
    """Nodes and edges of the last hours; the requests of all edges are together the number of `records`."""
    await service.written()
    since = datetime.now(UTC) - timedelta(hours=hours)
    found = await asyncio.to_thread(lambda: graph(reading.every(service.days, Filter(since=since))))
    return RecentGraph(**dict(found), since=as_text(since))


@router.get("/verify")
async def verification(service: AuditDependency) -> ShownVerification:
    """Find records that were altered, removed, added or moved since they were written."""
    result = await asyncio.to_thread(verify, service.days, await service.sealed())
    problems = [ShownProblem(**to_builtins(each), sentence=each.sentence) for each in result.problems]
    return ShownVerification(
        days=result.days, records=result.records, before=result.before, problems=problems, is_whole=not problems
    )


@router.get("/export")
async def export(service: AuditDependency, wanted: FilterDependency) -> StreamingResponse:
    """Every such record as a line of JSON, newest first."""
    await service.written()

    def lines() -> Iterator[str]:
        for record in reading.every(service.days, wanted):
            yield json.dumps(record, ensure_ascii=False) + "\n"

    headers = {"content-disposition": 'attachment; filename="audit.jsonl"'}
    return StreamingResponse(lines(), media_type="application/x-ndjson", headers=headers)


def _zoned(moment: datetime | None) -> datetime | None:
    return moment.replace(tzinfo=UTC) if moment is not None and moment.tzinfo is None else moment
