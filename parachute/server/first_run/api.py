"""Routes: `/api/setup`, which the console asks while it leads through set-up, and `/setup`, the address that was printed before."""

import asyncio
import os
import socket
from pathlib import Path
from typing import Annotated

from fastapi import APIRouter, Depends, Request
from fastapi.responses import RedirectResponse
from pydantic import BaseModel

from parachute import __version__
from parachute.base.answers import Done
from parachute.base.services import provided, services_of
from parachute.config.settings.home import Home
from parachute.config.settings.models import Settings
from parachute.config.settings.store import load
from parachute.llm.gateway.reports import ProviderStatus
from parachute.llm.gateway.service import Gateway
from parachute.security.keys.browser_sessions import BrowserSessions
from parachute.web.discovery.avahi import announced_name
from parachute.web.first_boot.service import FirstBoot

_LOCAL_TIME = Path("/etc/localtime")
_ZONES = "zoneinfo/"

router = APIRouter(tags=["setup"])


FirstBootDependency = Annotated[FirstBoot, Depends(provided(FirstBoot))]
BrowsersDependency = Annotated[BrowserSessions, Depends(provided(BrowserSessions))]


class Setup(BaseModel):
    """Facts about a computer before its set-up; `is_open` while it waits for being set up.

    `model_chosen` is false while nothing but the small model answers, and nobody has chosen that.
    """

    is_open: bool
    name: str | None
    hostname: str
    time_zone: str
    version: str
    vault: str
    provider: ProviderStatus
    model_chosen: bool


@router.get("/setup", include_in_schema=False)
async def former_page() -> RedirectResponse:
    """Lead to the console: a key behind the # of an address that was printed goes along, which one of ours would replace."""
    return RedirectResponse("/", 307, {"cache-control": "no-store", "referrer-policy": "no-referrer"})


@router.get("/api/setup")
async def status(request: Request, service: FirstBootDependency) -> Setup:
    """The names, time zone, version, vault and model that set-up shows first; with that it has begun."""
    await asyncio.to_thread(service.note_use, request.scope["state"]["caller"])
    await asyncio.to_thread(service.begin)
    services = services_of(request)
    provider = await services.get(Gateway).status()
    # As it is now: it may have been chosen since the server has started.
    settings = await asyncio.to_thread(load, services.get(Home))
    return Setup(
        is_open=await asyncio.to_thread(lambda: service.is_open),
        name=await announced_name(),
        hostname=socket.gethostname(),
        time_zone=await asyncio.to_thread(_time_zone),
        version=__version__,
        vault=str(services.get(Settings).vault),
        provider=provider,
        model_chosen=settings.provider != "auto" or provider.provider not in (None, "offline"),
    )


@router.post("/api/setup/finish")
async def finish(service: FirstBootDependency, browsers: BrowsersDependency) -> Done:
    """Set-up is done: revoke the key of the first boot; 409 while nobody else could administer the computer."""
    await asyncio.to_thread(lambda: service.finish(browsers.list()))
    return Done()


def _time_zone() -> str:
    """The time zone of the machine, such as `Europe/Berlin`; `UTC` where none is set."""
    if named := os.environ.get("TZ", "").removeprefix(":"):
        return named
    try:
        target = os.readlink(_LOCAL_TIME)  # noqa: PTH115 - the text of the link; what it leads to may be a link itself
    except OSError:
        return "UTC"
    return target.partition(_ZONES)[2] or "UTC"
