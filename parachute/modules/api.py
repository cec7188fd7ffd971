"""Routes of modules (contract, section 9)."""

import asyncio
from contextlib import ExitStack
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request
from pydantic import BaseModel, ConfigDict, Field

from parachute.errors import Conflict
from parachute.modules.installation import Installation
from parachute.modules.models import ModuleStatus
from parachute.modules.service import Modules

router = APIRouter(prefix="/api/modules", tags=["modules"])


def modules(request: Request) -> Modules:
    """The application's modules."""
    service: Modules = request.app.state.modules
    return service


ModulesDependency = Annotated[Modules, Depends(modules)]


class Approval(BaseModel):
    """Which content the caller saw and approves."""

    model_config = ConfigDict(extra="forbid", strict=True)

    hash: str = Field(pattern=r"^sha256:[0-9a-f]{64}$")


@router.get("")
async def list_modules(service: ModulesDependency) -> dict[str, Any]:
    """All modules, also those that wait for an approval."""
    found = await asyncio.to_thread(service.list)
    return {"modules": [status.as_json() for status in found]}


@router.post("/reload")
async def reload(service: ModulesDependency) -> dict[str, Any]:
    """Take up what the command line changed."""
    found = await asyncio.to_thread(service.list)
    await service.changed()
    return {"modules": [status.as_json() for status in found]}


@router.get("/{name}")
async def get_module(name: str, service: ModulesDependency) -> dict[str, Any]:
    """One module."""
    return (await asyncio.to_thread(service.status, name)).as_json()


@router.get("/{name}/approval")
async def get_approval(name: str, service: ModulesDependency) -> dict[str, Any]:
    """What an approval would be of: the consent with what changed in it, and the files that changed."""
    return await asyncio.to_thread(_question, service, name)


@router.post("/{name}/approve")
async def approve(name: str, body: Approval, service: ModulesDependency) -> dict[str, Any]:
    """Approve what is in the vault, if it is still what the caller saw."""
    status = await asyncio.to_thread(_approve, service, name, body.hash)
    await service.changed()
    return status.as_json()


@router.post("/{name}/enable")
async def enable(name: str, service: ModulesDependency) -> dict[str, Any]:
    """Let a module start again."""
    status = await asyncio.to_thread(service.enable, name)
    await service.changed(name)
    return status.as_json()


@router.post("/{name}/disable")
async def disable(name: str, service: ModulesDependency) -> dict[str, Any]:
    """Keep a module from starting, and end it."""
    status = await asyncio.to_thread(service.disable, name)
    await service.changed()
    return status.as_json()


@router.delete("/{name}")
async def remove(name: str, service: ModulesDependency, purge: bool = False) -> dict[str, Any]:
    """Remove a module; its data in the vault stays, its private data too unless `purge`."""
    stack = ExitStack()
    try:
        await asyncio.to_thread(stack.enter_context, service.removing(name, purge))
        # What runs of it is ended before its files go.
        await service.changed()
    finally:
        await asyncio.to_thread(stack.close)
    return {"success": True}


def _question(service: Modules, name: str) -> dict[str, Any]:
    with service.approving(name) as installation:
        files = [change.as_json() for change in service.changes(name)]
        return {**installation.question.as_json(), "files": files, "unchanged": installation.is_unchanged}


def _approve(service: Modules, name: str, seen: str) -> ModuleStatus:
    with service.approving(name) as installation:
        _check_seen(installation, seen)
        if not installation.is_unchanged:
            installation.finish()
    return service.status(name)


def _check_seen(installation: Installation, seen: str) -> None:
    if installation.module.hash != seen:
        raise Conflict(
            f"The module {installation.module.name} has changed since you looked at it.",
            "Look at it again: what would be approved is not what you saw.",
            key="module_changed",
            pending_hash=installation.module.hash,
        )
