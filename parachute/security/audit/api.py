"""Routes of the audit log: records page by page, the graph of what asked whom, verification, and everything as a file."""

import asyncio
import json
from collections.abc import Iterator
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query
from starlette.responses import StreamingResponse

from parachute.base.clock import as_text
from parachute.base.services import provided
from parachute.security.audit import reading
from parachute.security.audit.graph import graph
from parachute.security.audit.reading import Filter
from parachute.security.audit.service import Audit
from parachute.security.audit.verifying import verify

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


@router.get("")
async def records(
    service: AuditDependency,
    wanted: FilterDependency,
    limit: int = Query(reading.PAGE, ge=1, le=reading.MOST),
    before: str | None = Query(None, max_length=40),
) -> dict[str, Any]:
    """Records, newest first; `next` is the `before` of the next page, null at the end."""
    await service.written()
    page = await asyncio.to_thread(reading.page, service.days, wanted, limit, before)
    return {"records": page.records, "next": page.next}


@router.get("/graph")
async def activity(service: AuditDependency, hours: int = Query(24, ge=1, le=_MOST_HOURS)) -> dict[str, Any]:
    """Nodes and edges of the last hours; the requests of all edges are together the number of `records`."""
    await service.written()
    since = datetime.now(UTC) - timedelta(hours=hours)
    found = await asyncio.to_thread(lambda: graph(reading.every(service.days, Filter(since=since))))
    return {"since": as_text(since), **found}


@router.get("/verify")
async def verification(service: AuditDependency) -> dict[str, Any]:
    """Verification that no record was altered, removed, added or moved since it was written."""
    result = await asyncio.to_thread(verify, service.days, await service.sealed())
    problems = [{**asdict(each), "sentence": each.sentence} for each in result.problems]
    return {
        "days": result.days,
        "records": result.records,
        "before": result.before,
        "problems": problems,
        "is_whole": not problems,
    }


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
