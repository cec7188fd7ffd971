"""`/supervisor/*` on the main port, where an app looks for it whose server address has another port than 3333."""

import asyncio
from typing import Any

from fastapi import APIRouter, Request

from parachute.gateway.service import Gateway
from parachute.settings.home import Home
from parachute.supervisor import control

router = APIRouter(prefix="/supervisor", tags=["supervisor"])

_pending: set[asyncio.Task[Any]] = set()


@router.get("/status")
async def status(request: Request) -> dict[str, Any]:
    """How supervisor and core are."""
    found = await control.ask(_home(request), "status")
    del found["units"]
    return found


@router.get("/models")
async def models(request: Request, show_all: bool = False) -> dict[str, Any]:
    """The models that the provider offers; without `show_all`, the newest of each family. A compatible server without a list: the one in force."""
    gateway: Gateway = request.app.state.gateway
    return {"models": await gateway.models(show_all)}


@router.post("/server/restart")
async def restart(request: Request) -> dict[str, str]:
    """Restart core; connections wait while it is down."""
    return _later(_home(request), "restart")


@router.post("/server/stop")
async def stop(request: Request) -> dict[str, str]:
    """Stop core; the supervisor's own port can start it again."""
    return _later(_home(request), "stop")


@router.post("/server/start")
async def start() -> dict[str, str]:
    """Core runs, since it answers."""
    return {"status": "running"}


def _home(request: Request) -> Home:
    home: Home = request.app.state.home
    return home


def _later(home: Home, operation: str) -> dict[str, str]:
    """Ask after the answer is on its way: it ends the process that answers."""

    async def ask() -> None:
        await asyncio.sleep(0.1)
        await control.ask(home, operation)

    task = asyncio.create_task(ask())
    _pending.add(task)
    task.add_done_callback(_pending.discard)
    return {"status": operation}
