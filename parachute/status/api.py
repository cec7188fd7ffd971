"""`/api/health` and `/api/status`."""

from typing import Any

from fastapi import APIRouter, Request, Response

from parachute import __version__
from parachute.keys.models import Caller

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
    reason = await state.sandboxes.reason_unavailable()
    gateway = await state.gateway.status()
    return {
        "status": "ok",
        "version": __version__,
        "vault": {"path": str(state.settings.vault)},
        # The app's word for the sandbox; it asks whether agents can be shut in, not by what.
        "docker": {"available": reason is None, "image_exists": reason is None},
        "sandbox": {"engine": None if reason else "bubblewrap", "reason": reason},
        "provider": {"provider": gateway["provider"], "because": gateway["because"]},
    }


@router.get("/api/status")
async def status(request: Request) -> dict[str, Any]:
    """Everything that `parachute status` shows of core."""
    state = request.app.state
    reason = await state.sandboxes.reason_unavailable()
    return {
        "version": __version__,
        "vault": str(state.settings.vault),
        "port": state.settings.port,
        "provider": await state.gateway.status(),
        "sandbox": {
            "engine": None if reason else "bubblewrap",
            "reason": reason,
            "required": state.settings.sandbox.required,
        },
        "sessions": {"total": await state.sessions.count(), "active": len(state.runs.active())},
        "agents": {"warm": state.pool.warm, "spare": state.pool.spare is not None},
    }
