"""Routes of hooks (contract, section 9); they are approved at the computer itself, with `parachute hooks approve`."""

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request

from parachute.hooks.listing import as_json
from parachute.hooks.service import Hooks

router = APIRouter(prefix="/api/hooks", tags=["hooks"])


def hooks(request: Request) -> Hooks:
    """The application's hooks."""
    service: Hooks = request.app.state.hooks
    return service


HooksDependency = Annotated[Hooks, Depends(hooks)]


@router.get("")
async def list_hooks(service: HooksDependency) -> dict[str, Any]:
    """All hooks, and whether they went well lately."""
    return {
        "hooks": as_json(await service.list()),
        "problems": list(service.problems()),
        "health": {"recent_errors_count": service.recent_errors()},
    }


@router.get("/errors")
async def hook_errors(service: HooksDependency) -> dict[str, Any]:
    """What went wrong lately, newest first."""
    return {
        "errors": [
            {"hook": each.hook, "message": each.message, "timestamp": each.timestamp, "event": each.event}
            for each in service.errors()
        ]
    }
