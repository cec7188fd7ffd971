"""`GET /api/usage` (contract, section 7)."""

from typing import Any

from fastapi import APIRouter, Request

router = APIRouter(prefix="/api/usage", tags=["usage"])


@router.get("")
async def usage(request: Request) -> dict[str, Any]:
    """The subscription's limits as Anthropic reports them, and what was spent here today."""
    report: dict[str, Any] = await request.app.state.gateway.subscription()
    return report
