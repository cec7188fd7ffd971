"""`/api/health` and `/api/status`."""

import asyncio
from typing import Any

from fastapi import APIRouter, Request, Response

from parachute import __version__
from parachute.base.services import services_of
from parachute.chat.agent_processes.pool import AgentPool
from parachute.chat.runs.service import Runs
from parachute.chat.sessions.service import Sessions
from parachute.config.settings.models import Settings
from parachute.events.hooks.service import Hooks
from parachute.events.inbox.service import Inbox
from parachute.llm.gateway.service import Gateway
from parachute.llm.meaning.service import MeaningIndex
from parachute.modules.registry.service import Modules
from parachute.ops.recovery.service import Recovery
from parachute.sandbox.engines.service import Sandboxes
from parachute.security.keys.models import Caller
from parachute.server.status.panic_api import panic_of

router = APIRouter(tags=["status"])

_PLAIN = Response(b'{"status":"ok","version":"%s"}' % __version__.encode(), media_type="application/json")


@router.head("/api/health", include_in_schema=False)
@router.get("/api/health")
async def health(request: Request, detailed: bool = False) -> Any:
    """A sign of life, open to everyone; details only for callers who may read."""
    if not detailed:
        return _PLAIN
    services = services_of(request)
    caller: Caller = request.scope["state"]["caller"]
    if not caller.may("health", "read"):
        return _PLAIN
    sandbox = await services.get(Sandboxes).engine()
    gateway = await services.get(Gateway).status()
    return {
        "status": "ok",
        "version": __version__,
        "vault": {"path": str(services.get(Settings).vault)},
        "panic": panic_of(request),
        # The app's word for the sandbox: it needs to know that there is one, not which.
        "docker": {"available": sandbox.engine is not None, "image_exists": sandbox.engine is not None},
        "sandbox": {"engine": sandbox.engine, "reason": sandbox.reason},
        "provider": {"provider": gateway["provider"], "because": gateway["because"]},
    }


@router.get("/api/status")
async def status(request: Request) -> dict[str, Any]:
    """Everything that `parachute status` shows of the server."""
    services = services_of(request)
    settings, pool = services.get(Settings), services.get(AgentPool)
    sandbox = await services.get(Sandboxes).engine()
    return {
        "version": __version__,
        "vault": str(settings.vault),
        "declared_modules": await asyncio.to_thread(services.get(Modules).progress),
        "port": settings.port,
        "panic": panic_of(request),
        "recovery": [notice.as_json() for notice in await asyncio.to_thread(services.get(Recovery).notices.read)],
        "provider": await services.get(Gateway).status(),
        "sandbox": {
            "engine": sandbox.engine,
            "reason": sandbox.reason,
            "passed_over": sandbox.passed_over,
            "required": settings.sandbox.required,
        },
        "sessions": {
            "total": await services.get(Sessions).count(),
            "active": len(services.get(Runs).active()),
        },
        "hook_problems": list(services.get(Hooks).problems()),
        "memory": (await services.get(Hooks).memory()).as_json(),
        "waiting": {f"{kind}s": count for kind, count in (await services.get(Inbox).counts()).items()},
        "meaning": services.get(MeaningIndex).status(),
        "agents": {"warm": pool.warm, "spare": pool.prewarmed is not None},
    }
