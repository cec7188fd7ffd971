"""Routes of hooks (contract, section 9); they are approved at the computer itself, with `parachute hooks approve`."""

from typing import Annotated, Any

from fastapi import APIRouter, Depends

from parachute.base.services import provided
from parachute.events.hooks.service import Hooks, as_json

router = APIRouter(prefix="/api/hooks", tags=["hooks"])


HooksDependency = Annotated[Hooks, Depends(provided(Hooks))]


@router.get("")
async def list_hooks(service: HooksDependency) -> dict[str, Any]:
    """All hooks, and the number of recent failures."""
    memory = await service.memory()
    return {
        "hooks": as_json(await service.list(), memory.reason),
        "memory": memory.as_json(),
        "problems": list(service.problems()),
        "health": {"recent_errors_count": service.recent_errors()},
    }


@router.get("/errors")
async def hook_errors(service: HooksDependency) -> dict[str, Any]:
    """Recent failures of hooks, newest first."""
    return {
        "errors": [
            {"hook": each.hook, "message": each.message, "timestamp": each.timestamp, "event": each.event}
            for each in service.errors()
        ]
    }
