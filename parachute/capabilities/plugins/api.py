"""Routes of plugins (contract, section 5)."""

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Body, Depends, Request
from pydantic import BaseModel, ConfigDict, Field

from parachute.base.answers import Answer, Done, LeftOut
from parachute.base.errors import InvalidInput, ParachuteError
from parachute.base.services import provided
from parachute.capabilities.plugins.service import Plugins, UpdateCheck
from parachute.capabilities.plugins.shown import (
    PluginAgent,
    PluginDetail,
    PluginRow,
    PluginSkill,
    PluginUpdate,
    agent_of,
    detail,
    row,
    skill_of,
)
from parachute.chat.sessions.api import CallerDependency
from parachute.web.access.owner import require_owner

router = APIRouter(prefix="/api/plugins", tags=["plugins"])

PluginsDependency = Annotated[Plugins, Depends(provided(Plugins))]

_FIELDS = frozenset({"url", "slug"})


class Approval(BaseModel):
    """Parts that the caller saw and approves, and the hash that they were shown with."""

    model_config = ConfigDict(extra="forbid", strict=True)

    hash: str = Field(pattern=r"^sha256:[0-9a-f]{64}$")
    parts: list[Literal["texts", "programs"]] = Field(min_length=1, max_length=2)


class Update(BaseModel):
    """The hash that the caller saw of what comes; without it whatever is newest."""

    model_config = ConfigDict(extra="forbid", strict=True)

    hash: str | None = Field(default=None, pattern=r"^sha256:[0-9a-f]{64}$")


class PluginList(Answer, frozen=True):
    """All plugins, and those of Claude Code that are not used."""

    plugins: tuple[PluginRow, ...]
    left_out: tuple[LeftOut, ...]


class ChangedPlugin(Answer, frozen=True):
    """The plugin after a change."""

    plugin: PluginRow
    success: bool = True


class UpdatedPlugin(Answer, frozen=True):
    """The plugin after an update, and the `changes` that came with it."""

    plugin: PluginRow
    updated: bool
    changes: PluginUpdate | None
    success: bool = True


@router.get("")
async def list_plugins(service: PluginsDependency) -> PluginList:
    """All plugins."""
    found = tuple(map(row, await service.list()))
    return PluginList(found, service.library.left_out())


@router.post("/install")
async def install_plugin(
    request: Request, service: PluginsDependency, who: CallerDependency, body: Annotated[Any, Body()] = None
) -> ChangedPlugin:
    """Install a plugin, `{url, slug?}`: its texts are approved so, its programs wait."""
    await require_owner(request, "Installing a plugin")
    try:
        url, slug = _asked(body)
        return ChangedPlugin(row(await service.install(url, slug, f"{who.kind} {who.name}")))
    except ParachuteError as error:
        # The app shows a sentence with this status only.
        error.status = 400
        raise


@router.get("/{slug}")
async def get_plugin(slug: str, service: PluginsDependency) -> PluginDetail:
    """One plugin with everything in it."""
    return detail(await service.get(slug))


@router.delete("/{slug}")
async def remove_plugin(slug: str, request: Request, service: PluginsDependency, who: CallerDependency) -> Done:
    """Remove a plugin; those of Claude Code stay."""
    await require_owner(request, "Removing a plugin")
    await service.remove(slug, f"{who.kind} {who.name}")
    return Done()


@router.post("/{slug}/update")
async def update_plugin(
    slug: str, request: Request, service: PluginsDependency, who: CallerDependency, body: Update | None = None
) -> UpdatedPlugin:
    """Take the newest commit: its texts are approved so, and programs that are not as they were wait."""
    await require_owner(request, "Updating a plugin")
    plugin, changes = await service.update(slug, f"{who.kind} {who.name}", body.hash if body else None)
    return UpdatedPlugin(row(plugin), changes is not None, changes)


@router.get("/{slug}/check-update")
async def check_update(slug: str, service: PluginsDependency) -> UpdateCheck:
    """Look for a newer commit."""
    return await service.check(slug)


@router.post("/{slug}/changes")
async def plugin_changes(slug: str, request: Request, service: PluginsDependency) -> PluginUpdate:
    """Preview an update to the newest commit: its changes of files and of rights."""
    await require_owner(request, "Fetching a plugin")
    return await service.changes(slug)


@router.post("/{slug}/approve")
async def approve_plugin(
    slug: str, body: Approval, request: Request, service: PluginsDependency, who: CallerDependency
) -> ChangedPlugin:
    """Approve parts of a plugin, if it is still what the caller saw."""
    await require_owner(request, "Approving a plugin")
    return ChangedPlugin(row(await service.approve(slug, body.hash, body.parts, f"{who.kind} {who.name}")))


@router.get("/{slug}/skills/{name}")
async def get_skill(slug: str, name: str, service: PluginsDependency) -> PluginSkill:
    """A skill of a plugin."""
    return skill_of(await service.skill(slug, name))


@router.get("/{slug}/agents/{name}")
async def get_agent(slug: str, name: str, service: PluginsDependency) -> PluginAgent:
    """An agent of a plugin."""
    return agent_of(await service.agent(slug, name))


def _asked(body: Any) -> tuple[str, str | None]:
    if not isinstance(body, dict) or set(body) - _FIELDS or not isinstance(body.get("url"), str):
        raise InvalidInput("Expected the field url, and slug if it shall be called otherwise.", key="url_missing")
    slug = body.get("slug") or None
    if slug is not None and not isinstance(slug, str):
        raise InvalidInput("slug: expected text.", key="slug_not_text")
    return body["url"], slug
