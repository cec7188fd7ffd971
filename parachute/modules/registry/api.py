"""Routes of modules (contract, section 9)."""

import asyncio
import logging
from contextlib import ExitStack
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request
from pydantic import BaseModel, ConfigDict, Field

from parachute.errors import Conflict, ParachuteError
from parachute.modules.installation import Installation
from parachute.modules.models import ModuleStatus
from parachute.modules.service import Modules

log = logging.getLogger(__name__)

router = APIRouter(prefix="/api/modules", tags=["modules"])


def modules(request: Request) -> Modules:
    """The application's modules."""
    service: Modules = request.app.state.modules
    return service


class Live:
    """What runs of modules, as core's hosts know it; an application without hosts runs none."""

    def __init__(self, request: Request) -> None:
        self._hosts = getattr(request.app.state, "hosts", None)

    async def restart(self, name: str) -> None:
        """End the process of a module; errors: NotFound, Conflict, Unavailable."""
        if self._hosts is not None:
            await self._hosts.restart(name)

    async def beside(self, found: list[ModuleStatus]) -> list[dict[str, Any]]:
        """Modules as JSON, with what runs of each."""
        units: dict[str, dict[str, Any]] = {}
        if self._hosts is not None:
            try:
                units = await self._hosts.unit_states()
            except ParachuteError as error:
                # What is installed can be told without a supervisor, too.
                log.warning("What runs of modules is not known: %s", error)
        return [self._beside(status, units.get(status.name)).as_json() for status in found]

    @staticmethod
    def _beside(status: ModuleStatus, unit: dict[str, Any] | None) -> ModuleStatus:
        return status.beside(unit, (unit or {}).get("confinement") or ())


ModulesDependency = Annotated[Modules, Depends(modules)]
LiveDependency = Annotated[Live, Depends()]


class Approval(BaseModel):
    """Which content the caller saw and approves."""

    model_config = ConfigDict(extra="forbid", strict=True)

    hash: str = Field(pattern=r"^sha256:[0-9a-f]{64}$")


class SettingValue(BaseModel):
    """What a setting shall be."""

    model_config = ConfigDict(extra="forbid")

    value: Any


@router.get("")
async def list_modules(service: ModulesDependency, live: LiveDependency) -> dict[str, Any]:
    """All modules, also those that wait for an approval, and what runs of them."""
    found = await asyncio.to_thread(service.list)
    return {"modules": await live.beside(found)}


@router.post("/reload")
async def reload(service: ModulesDependency, live: LiveDependency) -> dict[str, Any]:
    """Take up what the command line changed."""
    found = await asyncio.to_thread(service.list)
    await service.changed()
    return {"modules": await live.beside(found)}


@router.get("/{name}")
async def get_module(name: str, service: ModulesDependency, live: LiveDependency) -> dict[str, Any]:
    """One module."""
    return await _one(service, live, name)


@router.get("/{name}/settings")
async def get_settings(name: str, service: ModulesDependency) -> dict[str, Any]:
    """The settings of a module with their values; of a secret only whether it is set."""
    return {"settings": await asyncio.to_thread(_shown, service, name)}


@router.put("/{name}/settings/{setting}")
async def set_setting(name: str, setting: str, body: SettingValue, service: ModulesDependency) -> dict[str, Any]:
    """Change a setting of a module."""
    await asyncio.to_thread(_set, service, name, setting, body.value)
    return {"settings": await asyncio.to_thread(_shown, service, name)}


@router.delete("/{name}/settings/{setting}")
async def delete_setting(name: str, setting: str, service: ModulesDependency) -> dict[str, Any]:
    """Go back to the default of a setting."""
    await asyncio.to_thread(_delete, service, name, setting)
    return {"settings": await asyncio.to_thread(_shown, service, name)}


@router.get("/{name}/approval")
async def get_approval(name: str, service: ModulesDependency) -> dict[str, Any]:
    """What an approval would be of: the consent with what changed in it, and the files that changed."""
    return await asyncio.to_thread(_question, service, name)


@router.post("/{name}/approve")
async def approve(name: str, body: Approval, service: ModulesDependency, live: LiveDependency) -> dict[str, Any]:
    """Approve what is in the vault, if it is still what the caller saw."""
    await asyncio.to_thread(_approve, service, name, body.hash)
    await service.changed()
    return await _one(service, live, name)


@router.post("/{name}/enable")
async def enable(name: str, service: ModulesDependency, live: LiveDependency) -> dict[str, Any]:
    """Let a module start again."""
    await asyncio.to_thread(service.enable, name)
    await service.changed(name)
    return await _one(service, live, name)


@router.post("/{name}/restart")
async def restart(name: str, service: ModulesDependency, live: LiveDependency) -> dict[str, Any]:
    """End a module's process; the next request starts it again, with the settings and files as they are then."""
    await live.restart(name)
    return await _one(service, live, name)


@router.post("/{name}/disable")
async def disable(name: str, service: ModulesDependency, live: LiveDependency) -> dict[str, Any]:
    """Keep a module from starting, and end it."""
    await asyncio.to_thread(service.disable, name)
    await service.changed()
    return await _one(service, live, name)


@router.delete("/{name}")
async def remove(name: str, service: ModulesDependency, purge: bool = False) -> dict[str, Any]:
    """Remove a module; its data in the vault stays, its private data and settings too unless `purge`."""
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
        # Of what is staged: the vault may have changed since.
        files = [change.as_json() for change in installation.changes()]
        return {**installation.question.as_json(), "files": files, "unchanged": installation.is_unchanged}


async def _one(service: Modules, live: Live, name: str) -> dict[str, Any]:
    (found,) = await live.beside([await asyncio.to_thread(service.status, name)])
    return found


def _shown(service: Modules, name: str) -> list[dict[str, Any]]:
    rows = service.settings.shown(name, service.manifest(name))
    return [{"name": setting, **row} for setting, row in rows.items()]


def _set(service: Modules, name: str, setting: str, value: object) -> None:
    service.settings.set(name, service.manifest(name), setting, value)


def _delete(service: Modules, name: str, setting: str) -> None:
    service.settings.delete(name, service.manifest(name), setting)


def _approve(service: Modules, name: str, seen: str) -> None:
    with service.approving(name) as installation:
        check_seen(installation, seen)
        if not installation.is_unchanged:
            installation.finish()


def check_seen(installation: Installation, seen: str) -> None:
    """Error: Conflict if what is staged is not the content whose hash the caller saw."""
    if installation.module.hash != seen:
        raise Conflict(
            f"The module {installation.module.name} has changed since you looked at it.",
            "Look at it again: what would be approved is not what you saw.",
            key="module_changed",
            pending_hash=installation.module.hash,
        )
