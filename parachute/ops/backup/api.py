"""Routes of backups: where they go, how they are, making one now, and whether the newest could be restored.

`restore_api` restores one.
"""

import asyncio
from typing import Annotated, Literal

from fastapi import APIRouter, Depends
from pydantic import BaseModel, ConfigDict, Field

from parachute.base.services import provided
from parachute.config.settings.home import Home
from parachute.config.settings.store import load
from parachute.ops.backup.access import Access
from parachute.ops.backup.choosing import change_credentials, make_repository
from parachute.ops.backup.jobs import BackupJobs, Job
from parachute.ops.backup.kit import protection
from parachute.ops.backup.models import NotSetUp
from parachute.ops.backup.state import CREATE, DRILL, VERIFY, State

router = APIRouter(prefix="/api/backups", tags=["backups"])

JobsDependency = Annotated[BackupJobs, Depends(provided(BackupJobs))]
HomeDependency = Annotated[Home, Depends(provided(Home))]


class Operation(BaseModel):
    """The last backup, verification or drill; `last` is the backup with which one came to an end, `succeeded_at` when one was well."""

    at: str
    result: Literal["ok", "incomplete", "failed"]
    message: str | None = None
    hint: str | None = None
    backup: str | None = None
    last: str | None = None
    succeeded_at: str | None = None
    files: int | None = None
    bytes: int | None = None


class Verification(Operation):
    """The last verification; a `quick` one has not read all data."""

    quick: bool | None = None


class Drill(Operation):
    """The last drill: `started` is whether the computer has started from the backup, `not_started` why that could not be tried."""

    started: bool | None = None
    not_started: str | None = None


class BackupStatus(BaseModel):
    """Status of backups: problems as sentences, and the result of the last of each operation.

    `concerns` has nothing of the kit: they are `protected` since `kit_opened_at`, when the emergency kit has opened them; `credentials` are the names of those of the place.
    """

    configured: bool
    repository: str | None
    protected: bool
    kit_opened_at: str | None
    credentials: list[str]
    concerns: list[str]
    create: Operation | None
    verify: Verification | None
    drill: Drill | None
    running: Job | None
    problem: str | None


class Backup(BaseModel):
    """A backup in the repository; `own` if this computer made it, `bytes` null where that was not written down.

    It is `protected` when it is finished and the emergency kit has opened the repository.
    """

    id: str
    made_at: str
    computer: str
    bytes: int | None
    own: bool
    finished: bool
    protected: bool


class Backups(BaseModel):
    """The backups in the repository, the newest last."""

    backups: list[Backup]


Credentials = Annotated[
    dict[Annotated[str, Field(max_length=100)], Annotated[str, Field(max_length=4000)]], Field(max_length=30)
]
"""Names and values, such as AWS_ACCESS_KEY_ID: no answer has the values."""


class Wanted(BaseModel):
    """New place of backups: a folder on another disk, or another repository of restic; and its credentials.

    With `replace` it takes the place of another one that is set.
    """

    model_config = ConfigDict(extra="forbid", strict=True)

    repository: Annotated[str, Field(min_length=1, max_length=2000)]
    credentials: Credentials = {}
    replace: bool = False


class NewCredentials(BaseModel):
    """New credentials of the place of the backups, in place of the stored ones."""

    model_config = ConfigDict(extra="forbid", strict=True)

    credentials: Annotated[Credentials, Field(min_length=1)]


@router.put("/repository")
async def put_repository(body: Wanted, home: HomeDependency, jobs: JobsDependency) -> BackupStatus:
    """Make a repository for backups, with a password unless there is one, and have them go there; if it fails nothing changes."""
    await make_repository(home, jobs, body.repository, body.credentials, replaces=body.replace)
    return await backup_status(home, jobs)


@router.put("/credentials")
async def put_credentials(body: NewCredentials, home: HomeDependency, jobs: JobsDependency) -> BackupStatus:
    """Open the place of the backups with these credentials from now on, if they do open it; else nothing changes."""
    await check_set_up(home)
    await change_credentials(home, jobs, body.credentials)
    return await backup_status(home, jobs)


@router.get("")
async def backup_status(home: HomeDependency, jobs: JobsDependency) -> BackupStatus:
    """Status of the last backup, verification and drill, and of the running operation; `problem` is why the last one here failed."""
    return await asyncio.to_thread(_status, home, jobs)


@router.get("/list")
async def list_backups(home: HomeDependency, jobs: JobsDependency) -> Backups:
    """The backups in the repository, which is asked: it may be far away."""
    await check_set_up(home)
    return Backups(backups=[Backup.model_validate(each) for each in await jobs.all()])


@router.post("", status_code=202)
async def make_backup(home: HomeDependency, jobs: JobsDependency) -> Job:
    """Begin to make a backup; the stream of changes tells each step and the end. 409 while one is under way."""
    await check_set_up(home)
    return jobs.begin("create")


@router.post("/drill", status_code=202)
async def drill_backup(home: HomeDependency, jobs: JobsDependency) -> Job:
    """Begin to restore the newest backup into a place of its own, to see that it could be; it is removed again."""
    await check_set_up(home)
    return jobs.begin("drill")


async def check_set_up(home: Home) -> None:
    """Error: NotSetUp."""
    if (await asyncio.to_thread(load, home)).backup.repository is None:
        raise NotSetUp(
            "No place for backups is set.",
            "`parachute backup init /media/usb/parachute` chooses a place and makes the first backup.",
        )


def _status(home: Home, jobs: BackupJobs) -> BackupStatus:
    state = State.read(home.root)
    # As the program reads it: it may have been set since the server has started.
    settings = load(home)
    repository = settings.backup.repository
    opened = protection.opened(home, settings)
    last = state.operations
    return BackupStatus(
        configured=repository is not None,
        repository=Access(repository, home.root).shown if repository else None,
        protected=opened is not None,
        kit_opened_at=opened.at if opened is not None else None,
        credentials=protection.named_credentials(home, settings),
        concerns=[each for each in protection.concerns(home, settings) if each != protection.NOT_PROTECTED],
        create=Operation.model_validate(last[CREATE]) if CREATE in last else None,
        verify=Verification.model_validate(last[VERIFY]) if VERIFY in last else None,
        drill=Drill.model_validate(last[DRILL]) if DRILL in last else None,
        running=jobs.running,
        problem=jobs.problem,
    )
