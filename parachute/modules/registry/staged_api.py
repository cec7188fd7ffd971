"""Routes by which a module of anybody is fetched, shown and installed: staged, looked at, approved by its hash."""

import asyncio
from collections.abc import AsyncIterator
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Response
from msgspec import to_builtins
from pydantic import BaseModel, ConfigDict, Field

from parachute.base.answers import Answer, Done
from parachute.base.errors import NotFound
from parachute.base.services import provided
from parachute.modules.registry.api import Approval, LiveDependency, ModulesDependency
from parachute.modules.registry.models import ModuleStatus
from parachute.modules.registry.staged import Staged, StagedModules
from parachute.modules.registry.staged_changes import StagedChanges
from parachute.web.http.event_stream import EventStream

router = APIRouter(prefix="/api/modules/staged", tags=["modules"])

StagedDependency = Annotated[StagedModules, Depends(provided(StagedModules))]
ChangesDependency = Annotated[StagedChanges, Depends(provided(StagedChanges))]


class NewStaged(BaseModel):
    """The source of a module, and the folder of it in there; `untrusted` shuts it in."""

    model_config = ConfigDict(extra="forbid", strict=True)

    source: str = Field(min_length=1, max_length=2000)
    path: str | None = Field(default=None, max_length=500)
    untrusted: bool = False


class StagedList(Answer, frozen=True):
    """All staged modules."""

    staged: tuple[Staged, ...]


@router.get("")
async def list_staged(staged: StagedDependency) -> StagedList:
    """Modules that are being fetched, wait for an approval, or could not be fetched, for a day."""
    return StagedList(tuple(each.answer() for each in await asyncio.to_thread(staged.list)))


@router.post("")
async def stage(body: NewStaged, staged: StagedDependency) -> Staged:
    """Begin to fetch a module: a git address, the path of a folder here, or parachute://NAME; nothing of it runs."""
    return (await asyncio.to_thread(staged.stage, body.source, body.path, untrusted=body.untrusted)).answer()


@router.get("/{identifier}")
async def get_staged(identifier: str, staged: StagedDependency) -> Staged:
    """One staged module: how far it is, and once it waits the consent with its hash and the files that would change."""
    return (await asyncio.to_thread(staged.get, identifier)).answer()


@router.get("/{identifier}/events", response_class=Response, responses={200: {"content": {"text/event-stream": {}}}})
async def staged_events(identifier: str, staged: StagedDependency, changes: ChangesDependency) -> Response:
    """Follow one until it waits, is installed, or failed: all of it at first, and again whenever it has changed."""
    await asyncio.to_thread(staged.get, identifier)

    async def pages() -> AsyncIterator[tuple[int, dict[str, Any]]]:
        seq = 0
        async for _ in changes.follow():
            seq += 1
            try:
                found = (await asyncio.to_thread(staged.get, identifier)).answer()
            except NotFound:
                yield seq, {"type": "staged", "id": identifier, "status": "deleted"}
                return
            yield seq, {"type": "staged", **to_builtins(found)}
            if found.status not in ("fetching", "installing"):
                return

    return EventStream(pages())


@router.post("/{identifier}/approve")
async def approve_staged(
    identifier: str, body: Approval, staged: StagedDependency, service: ModulesDependency, live: LiveDependency
) -> ModuleStatus:
    """Install what is staged, if it is what the caller saw; 409 if it is not."""
    name = await asyncio.to_thread(staged.approve, identifier, body.hash)
    await service.changed(name)
    return await live.one(service, name)


@router.delete("/{identifier}")
async def delete_staged(identifier: str, staged: StagedDependency) -> Done:
    """Drop what is staged, also while it is being fetched."""
    await asyncio.to_thread(staged.delete, identifier)
    return Done()
