"""`/api/health` and `/api/status`."""

import asyncio
from typing import Any

from fastapi import APIRouter, Request, Response

from parachute import __version__
from parachute.keys.models import Caller
from parachute.status.panic_api import panic_of
from parachute.status.waiting import waiting

router = APIRouter(tags=["status"])

_PLAIN = Response(b'{"status":"ok","version":"%s"}' % __version__.encode(), media_type="application/json")


@router.head("/api/health", include_in_schema=False)
@router.get("/api/health")
async def health(request: Request, detailed: bool = False) -> Any:
    """Whether the server answers, open to everyone; details only for callers who may read."""
    if not detailed:
        return _PLAIN
    state = request.app.state
    caller: Caller = request.scope["state"]["caller"]
    if not caller.may("health", "read"):
        return _PLAIN
    sandbox = await state.sandboxes.engine()
    gateway = await state.gateway.status()
    return {
        "status": "ok",
        "version": __version__,
        "vault": {"path": str(state.settings.vault)},
        "panic": panic_of(request),
        # The app's word for the sandbox; it asks whether agents can be shut in, not by what.
        "docker": {"available": sandbox.engine is not None, "image_exists": sandbox.engine is not None},
        "sandbox": {"engine": sandbox.engine, "reason": sandbox.reason},
        "provider": {"provider": gateway["provider"], "because": gateway["because"]},
    }


@router.get("/api/status")
async def status(request: Request) -> dict[str, Any]:
    """Everything that `parachute status` shows of core."""
    state = request.app.state
    sandbox = await state.sandboxes.engine()
    return {
        "version": __version__,
        "vault": str(state.settings.vault),
        "declared_modules": await asyncio.to_thread(state.modules.progress),
        "port": state.settings.port,
        "panic": panic_of(request),
        "recovery": [notice.as_json() for notice in await asyncio.to_thread(state.recovery.notices.read)],
        "provider": await state.gateway.status(),
        "sandbox": {
            "engine": sandbox.engine,
            "reason": sandbox.reason,
            "passed_over": sandbox.passed_over,
            "required": state.settings.sandbox.required,
        },
        "sessions": {"total": await state.sessions.count(), "active": len(state.runs.active())},
        "waiting": await waiting(state),
        "agents": {"warm": state.pool.warm, "spare": state.pool.spare is not None},
    }
