"""Routes: the set-up page `/setup`, and `/api/setup`, which the page asks; `/tls`, how to trust the computer."""

import asyncio
import logging
import os
import socket
from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request
from fastapi.responses import Response

from parachute import __version__
from parachute.base.errors import ParachuteError, Unavailable
from parachute.base.services import provided, services_of
from parachute.config.settings.models import Settings
from parachute.llm.gateway.service import Gateway
from parachute.server.setup_page.assets import ASSETS, Asset
from parachute.web.discovery.avahi import announced_name
from parachute.web.first_boot.service import FirstBoot

log = logging.getLogger(__name__)

_LOCAL_TIME = Path("/etc/localtime")
_ZONES = "zoneinfo/"

router = APIRouter(tags=["setup"])


FirstBootDependency = Annotated[FirstBoot, Depends(provided(FirstBoot))]


@router.get("/setup", include_in_schema=False)
async def page(request: Request, service: FirstBootDependency) -> Response:
    """The page; 410 with a sentence once set-up is done, 503 while it is not known whether it is."""
    try:
        is_open = await asyncio.to_thread(lambda: service.is_open)
    except ParachuteError as error:
        log.warning("The set-up page cannot be shown: %s", error)
        # Where the owner's files lie, and what is in them, is not for strangers.
        raise Unavailable("It is not known whether this computer is set up.", "Its log says why.") from error
    return _answer(request, ASSETS["page.html"]) if is_open else _answer(request, ASSETS["done.html"], 410)


@router.get("/setup/page.css", include_in_schema=False)
async def style(request: Request) -> Response:
    """The style sheet of the page."""
    return _answer(request, ASSETS["page.css"])


@router.get("/setup/page.js", include_in_schema=False)
async def script(request: Request) -> Response:
    """The script of the page."""
    return _answer(request, ASSETS["page.js"])


@router.get("/tls", include_in_schema=False)
async def trust(request: Request) -> Response:
    """The page that leads through trusting this computer's certificate."""
    return _answer(request, ASSETS["tls.html"])


@router.get("/tls/page.js", include_in_schema=False)
async def trust_script(request: Request) -> Response:
    """The script of that page."""
    return _answer(request, ASSETS["tls.js"])


@router.get("/api/setup")
async def status(request: Request, service: FirstBootDependency) -> dict[str, Any]:
    """The names, time zone, version, vault and model that the set-up page shows first."""
    await asyncio.to_thread(service.note_use, request.scope["state"]["caller"])
    services = services_of(request)
    return {
        "is_open": await asyncio.to_thread(lambda: service.is_open),
        "name": await announced_name(),
        "hostname": socket.gethostname(),
        "time_zone": await asyncio.to_thread(_time_zone),
        "version": __version__,
        "vault": str(services.get(Settings).vault),
        "provider": await services.get(Gateway).status(),
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


def _time_zone() -> str:
    """The time zone of the machine, such as `Europe/Berlin`; `UTC` where none is set."""
    if named := os.environ.get("TZ", "").removeprefix(":"):
        return named
    try:
        target = os.readlink(_LOCAL_TIME)  # noqa: PTH115 - the text of the link; what it leads to may be a link itself
    except OSError:
        return "UTC"
    return target.partition(_ZONES)[2] or "UTC"
