"""`/`, that the computer runs, `/setup`, the page that sets it up, and `/api/setup`, what that needs to know."""

import asyncio
import logging
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request
from fastapi.responses import Response

from parachute import __version__
from parachute.errors import ParachuteError, Unavailable
from parachute.first_boot.service import FirstBoot
from parachute.setup_page.assets import ASSETS, Asset
from parachute.setup_page.machine import names_of, time_zone

log = logging.getLogger(__name__)

router = APIRouter(tags=["setup"])


def first_boot(request: Request) -> FirstBoot:
    """How far the set-up of this computer has come."""
    service: FirstBoot = request.app.state.first_boot
    return service


FirstBootDependency = Annotated[FirstBoot, Depends(first_boot)]


@router.get("/", include_in_schema=False)
async def home(request: Request, service: FirstBootDependency) -> Any:
    """That the computer runs, and what to do next: a page for browsers, JSON for others."""
    if "text/html" not in request.headers.get("accept", ""):
        return {"name": "Parachute Computer", "status": "ok", "version": __version__}
    try:
        is_open = await asyncio.to_thread(lambda: service.is_open)
    except ParachuteError:
        is_open = False  # the set-up page says that nobody can tell
    return _answer(request, ASSETS["home-new.html" if is_open else "home.html"])


@router.get("/setup", include_in_schema=False)
async def page(request: Request, service: FirstBootDependency) -> Response:
    """The page; 410 with a sentence once set-up is done, 503 while it is not known whether it is."""
    try:
        is_open = await asyncio.to_thread(lambda: service.is_open)
    except ParachuteError as error:
        log.warning("The set-up page cannot be shown: %s", error)
        # Where the owner's files lie, and what is in them, is not for strangers.
        raise Unavailable("This computer cannot tell whether it is set up.", "Its log says why.") from error
    return _answer(request, ASSETS["page.html"]) if is_open else _answer(request, ASSETS["done.html"], 410)


@router.get("/setup/page.css", include_in_schema=False)
async def style(request: Request) -> Response:
    """How the page looks."""
    return _answer(request, ASSETS["page.css"])


@router.get("/setup/page.js", include_in_schema=False)
async def script(request: Request) -> Response:
    """What the page does."""
    return _answer(request, ASSETS["page.js"])


@router.get("/api/setup")
async def status(request: Request, service: FirstBootDependency) -> dict[str, Any]:
    """What the set-up page shows first: names, time zone, version, vault and the model in force."""
    await asyncio.to_thread(service.note_use, request.scope["state"]["caller"])
    state = request.app.state
    name, host = await names_of()
    return {
        "is_open": await asyncio.to_thread(lambda: service.is_open),
        "name": name,
        "hostname": host,
        "time_zone": await asyncio.to_thread(time_zone),
        "version": __version__,
        "vault": str(state.settings.vault),
        "provider": await state.gateway.status(),
    }


@router.post("/api/setup/finish")
async def finish(service: FirstBootDependency) -> dict[str, bool]:
    """Set-up is done: revoke the key of the first boot and close the page; 409 while there is no other key."""
    await asyncio.to_thread(service.finish)
    return {"success": True}


def _answer(request: Request, asset: Asset, status: int = 200) -> Response:
    headers = asset.headers
    if status == 200 and request.headers.get("if-none-match") == asset.etag:
        return Response(status_code=304, headers=headers)
    return Response(asset.content, status, headers=headers, media_type=asset.media_type)
