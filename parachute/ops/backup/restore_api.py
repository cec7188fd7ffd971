"""Routes of restoring: opening a repository that is there, restoring one of its backups, and going back."""

import asyncio
from typing import Annotated, Literal

from fastapi import APIRouter, Depends, Request
from pydantic import BaseModel, ConfigDict, Field, model_validator

from parachute.base.answers import Done
from parachute.base.services import provided
from parachute.base.swap_note import Note
from parachute.ops.backup.api import (
    BackupStatus,
    Credentials,
    HomeDependency,
    JobsDependency,
    backup_status,
    check_set_up,
)
from parachute.ops.backup.choosing import open_repository
from parachute.ops.backup.jobs import Job
from parachute.ops.backup.kit.models import Kit, parse
from parachute.ops.backup.restoring import Restores
from parachute.security.keys.models import Caller

router = APIRouter(prefix="/api/backups", tags=["backups"])

RestoresDependency = Annotated[Restores, Depends(provided(Restores))]


class Opened(BaseModel):
    """A repository that is there already: where it is, its password and what its place asks for; or the `kit` with all of it."""

    model_config = ConfigDict(extra="forbid", strict=True)

    repository: Annotated[str | None, Field(min_length=1, max_length=2000)] = None
    password: Annotated[str | None, Field(min_length=1, max_length=1000)] = None
    credentials: Credentials = {}
    kit: Annotated[str | None, Field(min_length=1, max_length=8000)] = None

    @model_validator(mode="after")
    def _is_whole(self) -> "Opened":
        typed = (self.repository, self.password, self.credentials or None)
        if any(typed) if self.kit is not None else None in typed[:2]:
            raise ValueError("either `kit`, or `repository` and `password` are needed")
        return self


class WantedRestore(BaseModel):
    """The id of a backup, or `latest`; with `trust` keys, approvals and settings come back as well."""

    model_config = ConfigDict(extra="forbid", strict=True)

    backup: Annotated[str, Field(pattern=r"^([0-9a-f]{4,64}|latest)$")]
    trust: bool


class LastRestore(BaseModel):
    """Result of the last restore: `restored`, `failed` (nothing has changed) or `back` (the state before is back).

    `kept` are the folders of before that are still there, `problem` why it has failed or came back by itself.
    """

    at: str
    result: Literal["restored", "failed", "back"]
    backup: str
    made_at: str
    computer: str
    trust: bool
    problem: str | None
    kept: list[str]


class Restored(BaseModel):
    """The last restore; null if there was none."""

    last: LastRestore | None


@router.put("/access")
async def put_access(body: Opened, home: HomeDependency, jobs: JobsDependency) -> BackupStatus:
    """Use a repository that is there already: it opens with this kit or password, or nothing changes."""
    kit = parse(body.kit) if body.kit is not None else Kit(body.repository or "", body.password or "", body.credentials)
    await open_repository(home, jobs, kit.repository, kit.password, kit.variables)
    return await backup_status(home, jobs)


@router.post("/restore", status_code=202)
async def restore_backup(
    request: Request, body: WantedRestore, home: HomeDependency, service: RestoresDependency
) -> Job:
    """Begin to restore a backup: it is fetched and compared beside what is there, then the computer starts anew with it."""
    await check_set_up(home)
    return service.begin(body.backup, _caller(request), trust=body.trust)


@router.get("/restore")
async def last_restore(service: RestoresDependency) -> Restored:
    """Result of the last restore, and the folders that it has kept."""
    note = await service.last()
    return Restored(last=await asyncio.to_thread(_last, note) if note is not None else None)


@router.delete("/running")
async def cancel_running(service: RestoresDependency) -> Done:
    """End the backup, drill or restore that is under way; what was before stays. 409 once a restore is put in place."""
    await service.cancel()
    return Done()


@router.post("/restore/undo", status_code=202)
async def undo_restore(request: Request, service: RestoresDependency) -> Done:
    """Go back to what was before the last restore: the computer starts anew with it, and keeps what was restored."""
    await service.go_back(_caller(request))
    return Done()


@router.delete("/restore/kept")
async def remove_kept(service: RestoresDependency) -> Done:
    """Remove for good what was there before the last restore: there is no going back then."""
    await service.remove_kept()
    return Done()


def _caller(request: Request) -> Caller:
    found: Caller = request.scope["state"]["caller"]
    return found


def _last(note: Note) -> LastRestore:
    about = note.about
    result: Literal["restored", "failed", "back"] = "back" if note.kind == "back" else "restored"
    return LastRestore(
        at=note.at,
        result=result if note.problem is None else "failed",
        backup=str(about.get("backup")),
        made_at=str(about.get("made_at")),
        computer=str(about.get("computer")),
        trust=about.get("trust") is True,
        problem=note.problem or about.get("problem"),
        kept=[str(path) for path in note.kept],
    )
