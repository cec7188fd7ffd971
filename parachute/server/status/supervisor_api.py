"""`/supervisor/*` on the main port, for apps whose server address has another port than 3333."""

import asyncio
from typing import Any, Literal

from fastapi import APIRouter, Request
from msgspec import convert

from parachute.base.answers import Answer
from parachute.base.services import services_of
from parachute.config.settings.home import Home
from parachute.llm.gateway.reports import ListedModel
from parachute.llm.gateway.service import Gateway
from parachute.security.kill_switch.switch import Panic
from parachute.supervisor import control

router = APIRouter(prefix="/supervisor", tags=["supervisor"])

_pending: set[asyncio.Task[Any]] = set()


class SupervisorStatus(Answer, frozen=True):
    """The state of supervisor and server; `not_enforced` are sentences about what nothing enforces on this machine."""

    supervisor_uptime_seconds: int
    supervisor_version: str
    main_server_healthy: bool
    main_server_status: Literal["running", "stopped"]
    main_server_uptime_seconds: int | None
    main_server_version: str | None
    main_server_host: str
    main_server_port: int
    config_loaded: bool
    program: str
    manager: Literal["systemd", "process"]
    not_enforced: list[str]
    panic: Panic | None


class ModelList(Answer, frozen=True):
    """The models that the providers offer, of each the newest first."""

    models: list[ListedModel]


class ServerStatus(Answer, frozen=True):
    """The operation that follows, or that the server runs."""

    status: Literal["restart", "stop", "running"]


@router.get("/status")
async def status(request: Request) -> SupervisorStatus:
    """The state of supervisor and server."""
    return convert(await control.ask(_home(request), "status"), SupervisorStatus)


@router.get("/models")
async def models(request: Request, show_all: bool = False) -> ModelList:
    """The models that conversations can choose, such as `home/qwen3` of a provider with a name; without `show_all`, the newest of each family. A compatible server without a list: the one in force."""
    return ModelList(await services_of(request).get(Gateway).models.all(show_all))


@router.post("/server/restart")
async def restart(request: Request) -> ServerStatus:
    """Restart the server; connections wait while it is down."""
    return _later(_home(request), "restart")


@router.post("/server/stop")
async def stop(request: Request) -> ServerStatus:
    """Stop the server; the supervisor's own port can start it again."""
    return _later(_home(request), "stop")


@router.post("/server/start")
async def start() -> ServerStatus:
    """The server runs, since it answers."""
    return ServerStatus("running")


def _home(request: Request) -> Home:
    return services_of(request).get(Home)


def _later(home: Home, operation: Literal["restart", "stop"]) -> ServerStatus:
    """Ask after the answer is on its way: it ends the process that answers."""

    async def ask() -> None:
        await asyncio.sleep(0.1)
        await control.ask(home, operation)

    task = asyncio.create_task(ask())
    _pending.add(task)
    task.add_done_callback(_pending.discard)
    return ServerStatus(operation)
