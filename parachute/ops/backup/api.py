"""Routes of backups: where they go, how they are, making one now, and whether the newest could be restored.

`restore_api` restores one.
"""

import asyncio
from dataclasses import asdict
from typing import Annotated, Any

from fastapi import APIRouter, Depends
from pydantic import BaseModel, ConfigDict, Field

from parachute.base.services import provided
from parachute.config.settings.home import Home
from parachute.config.settings.store import load
from parachute.ops.backup.access import Access
from parachute.ops.backup.jobs import BackupJobs, Job
from parachute.ops.backup.models import NotSetUp
from parachute.ops.backup.new_repository import make_repository
from parachute.ops.backup.password import read_password
from parachute.ops.backup.state import State

router = APIRouter(prefix="/api/backups", tags=["backups"])

JobsDependency = Annotated[BackupJobs, Depends(provided(BackupJobs))]
HomeDependency = Annotated[Home, Depends(provided(Home))]


class Running(BaseModel):
    """A backup (`create`), a drill or a restore under way; `step` is what it does just now, `part` how far that is, 0 to 1."""

    kind: str
    since: str
    step: str | None
    part: float | None


class Status(BaseModel):
    """How backups are: sentences about what needs attention, and how the last of each operation ended."""

    configured: bool
    repository: str | None
    concerns: list[str]
    create: dict[str, Any] | None
    verify: dict[str, Any] | None
    drill: dict[str, Any] | None
    running: Running | None
    problem: str | None


class Backup(BaseModel):
    """A backup in the repository; `own` if this computer made it, `bytes` null where that was not written down."""

    id: str
    made_at: str
    computer: str
    bytes: int | None
    own: bool
    finished: bool


class Backups(BaseModel):
    """The backups in the repository, the newest last."""

    backups: list[Backup]


class Wanted(BaseModel):
    """Where backups shall go: a folder on another disk, or what else restic takes."""

    model_config = ConfigDict(extra="forbid", strict=True)

    repository: Annotated[str, Field(min_length=1, max_length=2000)]


class ShownPassword(BaseModel):
    """The password without which nobody reads the backups, where they are, and the file that it is in."""

    password: str
    repository: str
    file: str


@router.put("/repository")
async def put_repository(body: Wanted, home: HomeDependency, jobs: JobsDependency) -> Status:
    """Make a repository for backups, with a password unless there is one, and have them go there; if it fails nothing changes."""
    await make_repository(home, jobs, body.repository)
    return await backup_status(home, jobs)


@router.post("/password")
async def show_password(home: HomeDependency) -> ShownPassword:
    """The password of the backups, to be written down: it is in none of them."""
    await check_set_up(home)
    found = await asyncio.to_thread(read_password, home)
    return ShownPassword(password=found.secret, repository=found.repository, file=str(found.file))


@router.get("")
async def backup_status(home: HomeDependency, jobs: JobsDependency) -> Status:
    """How the last backup, verification and drill ended, and what is under way; `problem` is why the last one here failed."""
    state = await asyncio.to_thread(State.read, home.root)
    # As the program reads it: it may have been set since the server has started.
    repository = (await asyncio.to_thread(load, home)).backup.repository
    last = {name: dict(entry) for name, entry in state.operations.items()}
    return Status(
        configured=repository is not None,
        repository=Access(repository, home.root).shown if repository else None,
        concerns=state.concerns() if repository else ["No place for backups is set."],
        create=last.get("create"),
        verify=last.get("verify"),
        drill=last.get("drill"),
        running=running(jobs.running) if jobs.running else None,
        problem=jobs.problem,
    )


@router.get("/list")
async def list_backups(home: HomeDependency, jobs: JobsDependency) -> Backups:
    """The backups in the repository, which is asked: it may be far away."""
    await check_set_up(home)
    return Backups(backups=[Backup.model_validate(each) for each in await jobs.all()])


@router.post("", status_code=202)
async def make_backup(home: HomeDependency, jobs: JobsDependency) -> Running:
    """Begin to make a backup; the stream of changes tells each step and the end. 409 while one is under way."""
    await check_set_up(home)
    return running(jobs.begin("create"))


@router.post("/drill", status_code=202)
async def drill_backup(home: HomeDependency, jobs: JobsDependency) -> Running:
    """Begin to restore the newest backup into a place of its own, to see that it could be; it is removed again."""
    await check_set_up(home)
    return running(jobs.begin("drill"))


async def check_set_up(home: Home) -> None:
    """Error: NotSetUp."""
    if (await asyncio.to_thread(load, home)).backup.repository is None:
        raise NotSetUp(
            "No place for backups is set.", "`parachute config set backup.repository /media/usb/backup` names one."
        )


def running(job: Job) -> Running:
    """What is under way, as the API has it."""
    return Running.model_validate(asdict(job))
