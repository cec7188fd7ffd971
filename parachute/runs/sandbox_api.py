"""The route that looks at a session's box."""

from typing import Any

from fastapi import APIRouter, Request

from parachute.runs.looking import Looks
from parachute.web.owner import require_owner

router = APIRouter(prefix="/api/sandbox", tags=["sandbox"])


@router.get("/sessions/{session}")
async def explain(request: Request, session: str) -> dict[str, Any]:
    """What a session's box was asked to be, what its engine reports, and what is found inside; one that sleeps is started."""
    await require_owner(request, "Looking into a sandbox")
    looks: Looks = request.app.state.looks
    return (await looks.explain(session)).as_json()
