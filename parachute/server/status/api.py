"""`/api/health` and `/api/status`."""

import asyncio
from typing import Literal

import msgspec
from fastapi import APIRouter, Request, Response

from parachute import __version__
from parachute.base.answers import Answer
from parachute.base.services import services_of
from parachute.chat.agent_processes.pool import AgentPool
from parachute.chat.runs.service import Runs
from parachute.chat.sessions.service import Sessions
from parachute.config.settings.models import Settings
from parachute.events.hooks.memory_makers import HookMemory
from parachute.events.hooks.models import ShownMemory
from parachute.events.hooks.service import Hooks
from parachute.events.inbox.service import Inbox
from parachute.files.progress import ReadFiles
from parachute.files.search import FileSearch
from parachute.llm.gateway.reports import ProviderStatus
from parachute.llm.gateway.service import Gateway
from parachute.llm.meaning.service import MeaningIndex, MeaningStatus
from parachute.modules.registry.service import DeclaredProgress, Modules
from parachute.ops.recovery.notices import ShownNotice
from parachute.ops.recovery.service import Recovery
from parachute.sandbox.engines.service import Sandboxes
from parachute.security.keys.models import Caller
from parachute.security.kill_switch.switch import Panic
from parachute.server.status.panic_api import panic_of

router = APIRouter(tags=["status"])

_PLAIN = Response(b'{"status":"ok","version":"%s"}' % __version__.encode(), media_type="application/json")


class Health(Answer, frozen=True):
    """A sign of life."""

    status: Literal["ok"]
    version: str


class VaultPlace(Answer, frozen=True):
    """The path of the vault."""

    path: str


class Container(Answer, frozen=True):
    """The app's word for the sandbox: it needs to know that there is one, not which."""

    available: bool
    image_exists: bool


class SandboxEngine(Answer, frozen=True):
    """The engine of sandboxes, or the reason why there is none."""

    engine: str | None
    reason: str | None


class ProviderInForce(Answer, frozen=True):
    """The provider in force, and why."""

    provider: str | None
    because: str


class DetailedHealth(Health, frozen=True):
    """The state of the server's parts."""

    vault: VaultPlace
    panic: Panic | None
    docker: Container
    sandbox: SandboxEngine
    provider: ProviderInForce


class SandboxStatus(SandboxEngine, frozen=True):
    """The engine of sandboxes; `passed_over` says why `auto` did not take Podman."""

    passed_over: str | None
    required: bool


class SessionCounts(Answer, frozen=True):
    """Sessions, and those that are being answered."""

    total: int
    active: int


class AgentCounts(Answer, frozen=True):
    """Agent processes that are kept ready, and whether there is a spare one."""

    warm: int
    spare: bool


class ComputerStatus(Answer, frozen=True):
    """The state of the server; `waiting` counts items of the inbox by kind."""

    version: str
    vault: str
    declared_modules: DeclaredProgress | None
    port: int
    panic: Panic | None
    recovery: list[ShownNotice]
    provider: ProviderStatus
    sandbox: SandboxStatus
    sessions: SessionCounts
    hook_problems: list[str]
    memory: ShownMemory
    waiting: dict[str, int]
    meaning: MeaningStatus
    files: ReadFiles
    agents: AgentCounts


@router.head("/api/health", include_in_schema=False)
@router.get("/api/health", response_model=DetailedHealth | Health)
async def health(request: Request, detailed: bool = False) -> Response:
    """A sign of life, open to everyone; details only for callers who may read."""
    if not detailed:
        return _PLAIN
    services = services_of(request)
    caller: Caller = request.scope["state"]["caller"]
    if not caller.may("health", "read"):
        return _PLAIN
    sandbox = await services.get(Sandboxes).engine()
    gateway = await services.get(Gateway).status()
    found = DetailedHealth(
        "ok",
        __version__,
        vault=VaultPlace(str(services.get(Settings).vault)),
        panic=panic_of(request),
        docker=Container(sandbox.engine is not None, sandbox.engine is not None),
        sandbox=SandboxEngine(sandbox.engine, sandbox.reason),
        provider=ProviderInForce(gateway.provider, gateway.because),
    )
    return Response(msgspec.json.encode(found), media_type="application/json")


@router.get("/api/status")
async def status(request: Request) -> ComputerStatus:
    """Everything that `parachute status` shows of the server."""
    services = services_of(request)
    settings, pool = services.get(Settings), services.get(AgentPool)
    sandbox = await services.get(Sandboxes).engine()
    hooks, passed_over = services.get(Hooks), sandbox.passed_over
    return ComputerStatus(
        version=__version__,
        vault=str(settings.vault),
        declared_modules=await asyncio.to_thread(services.get(Modules).progress),
        port=settings.port,
        panic=panic_of(request),
        recovery=[notice.shown() for notice in await asyncio.to_thread(services.get(Recovery).notices.read)],
        provider=await services.get(Gateway).status(),
        sandbox=SandboxStatus(sandbox.engine, sandbox.reason, passed_over, settings.sandbox.required),
        sessions=SessionCounts(await services.get(Sessions).count(), len(services.get(Runs).active())),
        hook_problems=list(hooks.problems()),
        memory=ShownMemory.showing(await services.get(HookMemory).now()),
        waiting={f"{kind}s": count for kind, count in (await services.get(Inbox).counts()).items()},
        meaning=services.get(MeaningIndex).status(),
        files=ReadFiles.showing_progress(services.get(FileSearch).indexing.progress),
        agents=AgentCounts(pool.warm, pool.prewarmed is not None),
    )
