"""Routes: the first page `/`, which is the console, and the files that it is made of."""

import asyncio
import functools
import logging

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse, PlainTextResponse, Response

from parachute import __version__
from parachute.base.errors import NotFound
from parachute.server.console.files import PAGE, ConsoleFile, console_files
from parachute.web.http.incoming import Incoming

log = logging.getLogger(__name__)

router = APIRouter(tags=["console"])

_NOT_BUILT = (
    "This computer runs, but its console was not built: `make run` builds it. Apps reach the computer all the same.\n"
)

_NOT_TAKEN = (
    "Nothing was taken: what you share is kept by a part of the console in this browser, and that part is missing.\n"
    "Open the console, sign in, and share it once more.\n"
)

_files = functools.cache(console_files)


@router.get("/", include_in_schema=False)
async def home(request: Request) -> Response:
    """The console; JSON for programs."""
    if "text/html" not in request.headers.get("accept", ""):
        return JSONResponse({"name": "Parachute Computer", "status": "ok", "version": __version__})
    page = (await asyncio.to_thread(_files)).get(PAGE)
    return await _answer(request, page) if page else PlainTextResponse(_NOT_BUILT, 503)


@router.get("/console/{name}", include_in_schema=False)
async def file(request: Request, name: str) -> Response:
    """One of the console's files."""
    found = (await asyncio.to_thread(_files)).get(name)
    if found is None or name == PAGE:
        raise NotFound(
            "The console does not have this file.", "Reload the page: the computer was updated.", key="no_console_file"
        )
    return await _answer(request, found)


@router.post("/console/share", include_in_schema=False)
async def share(request: Request) -> Response:
    """Say that nothing is taken here: the console's service worker answers what a share sheet sends, before it leaves the device."""
    await Incoming(request.receive, has_body=True).drain()
    return PlainTextResponse(_NOT_TAKEN, 409, {"cache-control": "no-store"})


async def _answer(request: Request, file: ConsoleFile) -> Response:
    if request.headers.get("if-none-match") == file.etag:
        return Response(status_code=304, headers=file.headers)
    content, coding = await asyncio.to_thread(file.read, request.headers.get("accept-encoding", ""))
    headers = {**file.headers, "content-encoding": coding} if coding else file.headers
    return Response(content, headers=headers, media_type=file.media_type)
