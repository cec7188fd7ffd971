"""Routes of tasks."""

from datetime import date
from typing import Annotated

from fastapi import APIRouter, Depends, Query, Request
from pydantic import BaseModel, ConfigDict, Field

from parachute.automation.tasks.models import Task, TaskList
from parachute.automation.tasks.service import Tasks
from parachute.base.services import provided
from parachute.web.access.owner import acting

router = APIRouter(prefix="/api/tasks", tags=["tasks"])

TasksDependency = Annotated[Tasks, Depends(provided(Tasks))]

_MOST = 1_000
"""Tasks of one answer: more is no list that a person reads."""

_LONGEST = 4096
"""Characters of a path, as for files."""


class TaskAnswer(BaseModel):
    """A task by its id, and whether it is done."""

    model_config = ConfigDict(extra="forbid", strict=True)

    id: str = Field(max_length=100)
    done: bool


@router.get("")
async def list_tasks(
    service: TasksDependency,
    done: bool = False,
    due: date | None = None,
    path: Annotated[str, Query(max_length=_LONGEST)] = "",
    limit: Annotated[int, Query(ge=1, le=_MOST)] = 200,
) -> TaskList:
    """The open tasks of the notes, or those that are `done`; `due` on or before a day, in the file or folder `path`."""
    return await service.list(done=done, due=due, path=path, limit=limit)


@router.post("/answer")
async def answer_task(request: Request, body: TaskAnswer, service: TasksDependency) -> Task:
    """Tick a task in its file, or untick it."""
    return await service.tick(body.id, await acting(request), done=body.done)
