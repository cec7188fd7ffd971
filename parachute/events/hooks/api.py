"""Routes of hooks (contract, section 9); they are approved at the computer itself, with `parachute hooks approve`."""

from typing import Annotated

from fastapi import APIRouter, Depends

from parachute.base.answers import Answer
from parachute.base.services import provided
from parachute.events.hooks.memory_makers import HookMemory
from parachute.events.hooks.models import HookFailure, ShownHook, ShownMemory
from parachute.events.hooks.service import Hooks, shown_hooks

router = APIRouter(prefix="/api/hooks", tags=["hooks"])


HooksDependency = Annotated[Hooks, Depends(provided(Hooks))]


class HookHealth(Answer, frozen=True):
    """The number of recent failures."""

    recent_errors_count: int


class HookList(Answer, frozen=True):
    """All hooks; `problems` are sentences about files that cannot be read."""

    hooks: list[ShownHook]
    memory: ShownMemory
    problems: list[str]
    health: HookHealth


class HookFailures(Answer, frozen=True):
    """Recent failures of hooks, the newest first."""

    errors: list[HookFailure]


@router.get("")
async def list_hooks(
    service: HooksDependency, making: Annotated[HookMemory, Depends(provided(HookMemory))]
) -> HookList:
    """All hooks, and the number of recent failures."""
    memory = await making.now()
    return HookList(
        shown_hooks(await service.list(), memory.reason),
        ShownMemory.showing(memory),
        list(service.problems()),
        HookHealth(service.recent_errors()),
    )


@router.get("/errors")
async def hook_errors(service: HooksDependency) -> HookFailures:
    """Recent failures of hooks, newest first."""
    return HookFailures(list(service.errors()))
