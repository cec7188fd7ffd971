"""Routes of modules (contract, section 9)."""

import asyncio
import logging
from contextlib import ExitStack
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Request
from pydantic import BaseModel, ConfigDict, Field

from parachute.base.answers import Answer, Done
from parachute.base.errors import ParachuteError
from parachute.base.services import provided, services_of
from parachute.modules.manifest.consents import agent_consent
from parachute.modules.registry.agent_limits import AgentLimit, LimitedAgent, narrowed
from parachute.modules.registry.consent import Review
from parachute.modules.registry.models import ModuleStatus, RunningModules
from parachute.modules.registry.service import Modules
from parachute.modules.registry.settings import SettingRow

log = logging.getLogger(__name__)

router = APIRouter(prefix="/api/modules", tags=["modules"])


class Live:
    """Processes of modules, as the runtime knows them; an application without a runtime has none."""

    def __init__(self, request: Request) -> None:
        self._hosts = services_of(request).find(RunningModules)

    async def restart(self, name: str) -> None:
        """End the process of a module; errors: NotFound, Conflict, Unavailable."""
        if self._hosts is not None:
            await self._hosts.restart(name)

    async def with_units(self, found: list[ModuleStatus]) -> "ModuleList":
        """The modules, each with the state of its unit."""
        units: dict[str, dict[str, Any]] = {}
        if self._hosts is not None:
            try:
                units = await self._hosts.unit_states()
            except ParachuteError as error:
                # What is installed is known without a supervisor, too.
                log.warning("The units of modules are unknown: %s", error)
        pairs = [(status, units.get(status.name, {})) for status in found]
        return ModuleList(tuple(status.with_unit(unit, unit.get("confinement") or ()) for status, unit in pairs))

    async def one(self, service: Modules, name: str) -> ModuleStatus:
        """One module; error: NotFound."""
        (found,) = (await self.with_units([await asyncio.to_thread(service.status, name)])).modules
        return found


_BUSY_SECONDS = 20.0


def _busy_seconds(service: Modules) -> float:
    """Return how long a change waits for another one: a list of what came along holds the lock for some seconds, too."""
    return min(_BUSY_SECONDS, service.limits.wait_seconds)


ModulesDependency = Annotated[Modules, Depends(provided(Modules))]
LiveDependency = Annotated[Live, Depends()]


class Approval(BaseModel):
    """Hash of the content that the caller saw and approves."""

    model_config = ConfigDict(extra="forbid", strict=True)

    hash: str = Field(pattern=r"^sha256:[0-9a-f]{64}$")


class NewLimit(BaseModel):
    """New limit of an agent: only these of its paths and tools, and `network: none`."""

    model_config = ConfigDict(extra="forbid", strict=True)

    paths: list[str] | None = Field(default=None, max_length=100)
    capabilities: list[str] | None = Field(default=None, max_length=100)
    network: Literal["none"] | None = None


class SettingValue(BaseModel):
    """The new value of a setting."""

    model_config = ConfigDict(extra="forbid")

    value: Any


class ModuleList(Answer, frozen=True):
    """Modules."""

    modules: tuple[ModuleStatus, ...]


class SettingList(Answer, frozen=True):
    """The settings of a module."""

    settings: tuple[SettingRow, ...]


class LimitList(Answer, frozen=True):
    """The agents of a module."""

    agents: tuple[LimitedAgent, ...]


@router.get("")
async def list_modules(service: ModulesDependency, live: LiveDependency) -> ModuleList:
    """All modules, also those that wait for an approval, and what runs of them."""
    return await live.with_units(await asyncio.to_thread(service.list))


@router.post("/reload")
async def reload(service: ModulesDependency, live: LiveDependency) -> ModuleList:
    """Take up what the command line changed."""
    found = await asyncio.to_thread(service.list)
    await service.changed()
    return await live.with_units(found)


@router.get("/{name}")
async def get_module(name: str, service: ModulesDependency, live: LiveDependency) -> ModuleStatus:
    """One module."""
    return await live.one(service, name)


@router.get("/{name}/settings")
def get_settings(name: str, service: ModulesDependency) -> SettingList:
    """The settings of a module with their values; of a secret only whether it is set."""
    return SettingList(service.settings.shown(name, service.manifest(name)))


@router.put("/{name}/settings/{setting}")
def set_setting(name: str, setting: str, body: SettingValue, service: ModulesDependency) -> SettingList:
    """Change a setting of a module."""
    service.settings.set(name, service.manifest(name), setting, body.value)
    return get_settings(name, service)


@router.delete("/{name}/settings/{setting}")
def delete_setting(name: str, setting: str, service: ModulesDependency) -> SettingList:
    """Go back to the default of a setting."""
    service.settings.delete(name, service.manifest(name), setting)
    return get_settings(name, service)


@router.get("/{name}/limits")
async def get_limits(name: str, service: ModulesDependency) -> LimitList:
    """The agents of a module's manifest: what the owner has taken from each, and what it may do now."""
    return await asyncio.to_thread(_limits, service, name)


@router.put("/{name}/limits/{agent}")
async def limit_agent(name: str, agent: str, body: NewLimit, service: ModulesDependency) -> LimitList:
    """Limit an agent to some of its paths and tools, or take the network from it; ends what its module runs."""
    limit = AgentLimit(
        None if body.paths is None else tuple(body.paths),
        None if body.capabilities is None else tuple(body.capabilities),
        body.network,
    )
    await asyncio.to_thread(service.limit, name, agent, limit)
    await service.changed()
    return await asyncio.to_thread(_limits, service, name)


@router.delete("/{name}/limits/{agent}")
async def unlimit_agent(name: str, agent: str, service: ModulesDependency) -> LimitList:
    """Let an agent do again all that was approved at the installation."""
    await asyncio.to_thread(service.limit, name, agent, None)
    await service.changed()
    return await asyncio.to_thread(_limits, service, name)


def _limits(service: Modules, name: str) -> LimitList:
    limits = service.registry.module(name).agents
    manifest = narrowed(service.manifest(name), limits)
    return LimitList(
        tuple(
            LimitedAgent(agent, limits.get(agent), agent_consent(agent, config))
            for agent, config in manifest.agents.items()
        )
    )


@router.get("/{name}/approval")
def get_approval(name: str, service: ModulesDependency) -> Review:
    """The consent to approve with its changes, and the files that changed."""
    with service.approving(name, seconds=_busy_seconds(service)) as installation:
        # Of what is staged: the vault may have changed since.
        return installation.question.review(installation.changes(), unchanged=installation.is_unchanged)


@router.post("/{name}/approve")
async def approve(name: str, body: Approval, service: ModulesDependency, live: LiveDependency) -> ModuleStatus:
    """Approve what is in the vault, if it is still what the caller saw."""
    await asyncio.to_thread(service.approve, name, body.hash, _busy_seconds(service))
    await service.changed()
    return await live.one(service, name)


@router.post("/{name}/enable")
async def enable(name: str, service: ModulesDependency, live: LiveDependency) -> ModuleStatus:
    """Let a module start again."""
    await asyncio.to_thread(service.enable, name)
    await service.changed(name)
    return await live.one(service, name)


@router.post("/{name}/restart")
async def restart(name: str, service: ModulesDependency, live: LiveDependency) -> ModuleStatus:
    """End a module's process; the next request starts it again, with the settings and files as they are then."""
    await live.restart(name)
    return await live.one(service, name)


@router.post("/{name}/disable")
async def disable(name: str, service: ModulesDependency, live: LiveDependency) -> ModuleStatus:
    """Keep a module from starting, and end it."""
    await asyncio.to_thread(service.disable, name)
    await service.changed()
    return await live.one(service, name)


@router.delete("/{name}")
async def remove(name: str, service: ModulesDependency, purge: bool = False) -> Done:
    """Remove a module; its data in the vault stays, its private data and settings too unless `purge`."""
    stack = ExitStack()
    try:
        await asyncio.to_thread(stack.enter_context, service.removing(name, purge, _busy_seconds(service)))
        # What runs of it is ended before its files go.
        await service.changed()
    finally:
        await asyncio.to_thread(stack.close)
    return Done()
