"""Routes of updates: what runs, beginning an update, following it, cancelling it and going back."""

import asyncio
from pathlib import Path
from typing import Annotated, Literal

from fastapi import APIRouter, Depends
from pydantic import BaseModel, ConfigDict, Field

from parachute.base.errors import InvalidInput
from parachute.base.services import provided
from parachute.config.settings.home import Home
from parachute.config.settings.store import load
from parachute.ops.rehearsal.models import Check
from parachute.ops.updates.models import Version
from parachute.ops.updates.orders import Orders, Situation

router = APIRouter(prefix="/api/updates", tags=["updates"])

HomeDependency = Annotated[Home, Depends(provided(Home))]

Phase = Literal[
    "staging",
    "rehearsing",
    "putting",
    "probation",
    "blessing",
    "returning",
    "done",
    "refused",
    "newest",
    "cancelled",
    "back",
]


class RunningVersion(BaseModel):
    """A version: its number, the commit or hash that names it, and the clone or wheel that it came from, empty if that is not known."""

    version: str | None
    name: str
    source: str


class LastUpdate(BaseModel):
    """Progress of an update, or the result of the last one.

    `done`: the new version stays. `refused`: nothing has changed. `newest`: the newest version runs, and nothing was done.
    `cancelled`: its owner ended it, and nothing has changed. `back`: the version before is in place again; `since` names where
    what was written meanwhile is kept, where the old version cannot read it. `until` is when the probation ends, `problem` why
    it was refused or came back, `changes` what the new version changes.
    """

    phase: Phase
    began: str
    at: str
    until: str | None
    step: str | None
    old: RunningVersion
    new: RunningVersion | None
    checks: list[Check]
    changes: list[str]
    problem: str | None
    hint: str | None
    since: list[str]


class Updates(BaseModel):
    """Running version, the update under way or the last one, and whether there is a version to go back to.

    `source` is where the next update comes from, null if that is not known.
    """

    running: RunningVersion
    source: str | None
    automatic: bool
    under_way: bool
    can_go_back: bool
    update: LastUpdate | None


class Wanted(BaseModel):
    """An update from a clone or a wheel on this computer; without `source`, from where the settings say."""

    model_config = ConfigDict(extra="forbid", strict=True)

    source: Annotated[str, Field(min_length=1, max_length=4000)] | None = None
    unrehearsed: bool = False


@router.get("")
async def get_updates(home: HomeDependency) -> Updates:
    """Running version, and the progress of an update."""
    return await _updates(home)


@router.post("", status_code=202)
async def post_update(body: Wanted, home: HomeDependency) -> Updates:
    """Begin an update: it is staged, rehearsed on copies, put in place and watched. 409 while one is under way."""
    source = Path(body.source) if body.source is not None else None
    if source is not None and not source.is_absolute():
        raise InvalidInput("source: expected a path from / on.", key="source_not_absolute")
    await Orders(home).begin(source, unrehearsed=body.unrehearsed)
    return await _updates(home)


@router.post("/back", status_code=202)
async def post_back(home: HomeDependency) -> Updates:
    """Put the version before the last update in place again, with the state that it can read. 409 if there is none."""
    await Orders(home).go_back()
    return await _updates(home)


@router.delete("/running")
async def delete_running(home: HomeDependency) -> Updates:
    """Cancel an update that is not put in place yet: nothing has changed. 409 once it is."""
    await Orders(home).cancel()
    return await _updates(home)


async def _updates(home: Home) -> Updates:
    situation = await Orders(home).situation()
    settings = (await asyncio.to_thread(load, home)).updates
    source = str(settings.source) if settings.source else situation.running.source or None
    return Updates(
        running=_version(situation.running, situation.number),
        source=source,
        automatic=settings.automatic,
        under_way=situation.is_under_way,
        can_go_back=situation.can_go_back,
        update=_last(situation),
    )


def _last(situation: Situation) -> LastUpdate | None:
    if (update := situation.update) is None:
        return None
    return LastUpdate(
        phase=update.phase.value,
        began=update.began,
        at=update.at,
        until=update.until,
        step=update.step,
        old=_version(update.old),
        new=_version(update.new) if update.new else None,
        checks=list(update.checks),
        changes=list(update.changes),
        problem=update.problem,
        hint=update.hint,
        since=list(update.since),
    )


def _version(version: Version, number: str | None = None) -> RunningVersion:
    return RunningVersion(version=number, name=version.name, source=version.source)
