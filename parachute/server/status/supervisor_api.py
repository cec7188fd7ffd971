"""`/supervisor/*` on the main port, for apps whose server address has another port than 3333."""

import asyncio
from typing import Any

from fastapi import APIRouter, Request

from parachute.base.services import services_of
from parachute.config.settings.home import Home
from parachute.llm.gateway.service import Gateway
from parachute.supervisor import control

router = APIRouter(prefix="/supervisor", tags=["supervisor"])

_pending: set[asyncio.Task[Any]] = set()


@router.get("/status")
async def status(request: Request) -> dict[str, Any]:
    """The state of supervisor and server."""
    found = await control.ask(_home(request), "status")
    del found["units"]
    return found


@router.get("/models")
async def models(request: Request, show_all: bool = False) -> dict[str, Any]:
    """The models that the provider offers; without `show_all`, the newest of each family. A compatible server without a list: the one in force."""
    return {"models": await services_of(request).get(Gateway).upstream.models(show_all)}


@router.post("/server/restart")
async def restart(request: Request) -> dict[str, str]:
    """Restart the server; connections wait while it is down."""
    return _later(_home(request), "restart")


@router.post("/server/stop")
async def stop(request: Request) -> dict[str, str]:
    """Stop the server; the supervisor's own port can start it again."""
    return _later(_home(request), "stop")


@router.post("/server/start")
async def start() -> dict[str, str]:
    """The server runs, since it answers."""
    return {"status": "running"}


def _home(request: Request) -> Home:
    return services_of(request).get(Home)


def _later(home: Home, operation: str) -> dict[str, str]:
    """Ask after the answer is on its way: it ends the process that answers."""

    async def ask() -> None:
        await asyncio.sleep(0.1)
        await control.ask(home, operation)

    task = asyncio.create_task(ask())
    _pending.add(task)
    task.add_done_callback(_pending.discard)
    return {"status": operation}
