"""Routes of imports; `POST /api/import` is the app's (contract, section 7)."""

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query, Request, Response

from parachute.base.errors import InvalidInput, ParachuteError
from parachute.base.services import provided
from parachute.chat.imports.service import Imports
from parachute.security.keys.models import Caller
from parachute.web.access.owner import is_owner
from parachute.web.http.event_stream import EventStream
from parachute.web.http.incoming import Gone, Incoming

router = APIRouter(prefix="/api", tags=["imports"])


ImportsDependency = Annotated[Imports, Depends(provided(Imports))]
Flag = Annotated[bool, Query()]


@router.post("/import")
async def import_export(request: Request, service: ImportsDependency) -> dict[str, Any]:
    """Import an export that the app has read, `{data, archived}`, and answer when that is done."""
    record = await _received(
        request, service, "auto", "the app", dry_run=False, archived=False, takes_files=await is_owner(request)
    )
    done, sessions = await service.finished(record["id"])
    return {
        "total_conversations": done.conversations,
        "imported_count": done.imported,
        "skipped_count": done.skipped,
        "errors": done.errors,
        "session_ids": sessions,
    }


@router.post("/imports")
async def begin(
    request: Request,
    service: ImportsDependency,
    kind: Annotated[str, Query(max_length=20)] = "auto",
    name: Annotated[str, Query(min_length=1, max_length=200)] = "export",
    dry_run: Flag = False,
    archived: Flag = False,
    contexts: Flag = False,
) -> dict[str, Any]:
    """Upload an export as the body, a ZIP archive, JSON or a database of any size, and begin to import it.

    `dry_run` only counts. `contexts` also brings files that agents obey, from an archive of `parachute export`. The import runs on when the connection ends.
    """
    return await _received(
        request, service, kind, name, dry_run=dry_run, archived=archived, takes_files=True, takes_contexts=contexts
    )


@router.get("/imports")
async def list_imports(service: ImportsDependency) -> dict[str, Any]:
    """All imports, the newest first."""
    return {"imports": [each.as_json() for each in await service.all()]}


@router.get("/imports/{import_id}")
async def get_import(import_id: str, service: ImportsDependency) -> dict[str, Any]:
    """One import, and how far it is."""
    return (await service.get(import_id)).as_json()


@router.get("/imports/{import_id}/events")
async def events(import_id: str, service: ImportsDependency) -> Response:
    """The import as events, each time it has changed, until it is finished."""
    await service.get(import_id)
    return EventStream(service.follow(import_id))


@router.post("/imports/{import_id}/undo")
async def undo(request: Request, import_id: str, service: ImportsDependency) -> dict[str, Any]:
    """Begin to remove what an import brought; conversations that somebody has gone on with, and changed files, stay."""
    return (await service.undo(import_id, _named(request))).as_json()


@router.delete("/imports/{import_id}")
async def cancel(import_id: str, service: ImportsDependency) -> dict[str, Any]:
    """Stop an import; what it has brought until now stays. The record of one that is over is forgotten."""
    return (await service.cancel(import_id)).as_json()


async def _received(
    request: Request,
    service: Imports,
    kind: str,
    name: str,
    *,
    takes_files: bool,
    dry_run: bool,
    archived: bool,
    takes_contexts: bool = False,
) -> dict[str, Any]:
    announced = request.headers.get("content-length", "0")
    size = int(announced) if announced.isdecimal() else 0
    incoming = Incoming(request.receive, has_body=True)
    try:
        record = await service.receive(
            incoming.chunks(),
            kind=kind,
            name=name,
            size=size,
            by=_named(request),
            dry_run=dry_run,
            archived=archived,
            takes_files=takes_files,
            takes_contexts=takes_contexts,
        )
    except Gone as error:
        raise InvalidInput("The upload broke off.", "Begin it again.", key="upload_broken") from error
    except ParachuteError:
        await incoming.drain()
        raise
    return record.as_json()


def _named(request: Request) -> str:
    caller: Caller = request.scope["state"]["caller"]
    return f"{caller.kind} {caller.name}"
