"""Routes of what the runs of a session have changed."""

from typing import Annotated, Literal

from fastapi import APIRouter, Depends, Query, Request
from pydantic import BaseModel, ConfigDict, Field

from parachute.base.answers import Answer
from parachute.base.errors import NotFound
from parachute.base.services import provided
from parachute.changes.models import Undone
from parachute.changes.reading import Difference, ShownChanges, shown_changes
from parachute.changes.service import Changes
from parachute.chat.sessions.api import SessionsDependency, check_level
from parachute.chat.sessions.models import is_session_id
from parachute.web.access.owner import is_owner, require_owner
from parachute.web.http.integers import RowId

router = APIRouter(prefix="/api/chat", tags=["changes"])

ChangesDependency = Annotated[Changes, Depends(provided(Changes))]


async def _session(session: str) -> str:
    # What is kept for the owner's own changes has a name that is no session's, and other routes.
    if not is_session_id(session):
        raise NotFound(f"There is no session {session[:80]!r}.", key="session_not_found")
    return session


Session = Annotated[str, Depends(_session)]
Name = Annotated[str, Field(min_length=1, max_length=4096)]
Paths = Annotated[list[Name], Field(min_length=1, max_length=1000)]


class Undo(BaseModel):
    """The run to take back, by default the last one, and the files or folders of it, by default all."""

    model_config = ConfigDict(extra="forbid", strict=True)

    run: RowId | None = None
    paths: Paths | None = None


class HeldAnswer(BaseModel):
    """The owner's word on what waits of a run, or on some files or folders of it; `hash` is that of all that was shown."""

    model_config = ConfigDict(extra="forbid", strict=True)

    run: RowId
    answer: Literal["apply", "throw_away"]
    hash: str = Field(pattern=r"^sha256:[0-9a-f]{64}$")
    paths: Paths | None = None


class SessionChanges(Answer, frozen=True):
    """Changes by the runs of a session, the newest first."""

    runs: list[ShownChanges]


class AnsweredPaths(Answer, frozen=True):
    """The paths that do not wait any more."""

    paths: list[str]


@router.get("/{session}/changes")
async def list_changes(session: Session, service: ChangesDependency) -> SessionChanges:
    """List what each run has changed, the newest first: files with lines added and removed, and what waits for the owner."""
    return SessionChanges(list(map(shown_changes, await service.history.of_session(session))))


@router.get("/{session}/changes/{run}/diff")
async def show_difference(
    session: Session, run: RowId, service: ChangesDependency, path: Annotated[str, Query(min_length=1, max_length=4096)]
) -> Difference:
    """The difference of one file; `diff` is null for what is no text, is large, or has changed since and is not kept."""
    return await service.history.difference(session, run, path)


@router.post("/{session}/undo")
async def undo_changes(
    request: Request, session: Session, body: Undo, service: ChangesDependency, sessions: SessionsDependency
) -> Undone:
    """Take a run back; what somebody has changed since is listed in `conflicts` and left alone.

    An undo or an answer, what programs obey, and the runs of a direct conversation the owner alone takes back.
    """
    found = await sessions.find(session)
    await check_level(request, found.trust_level if found else None, is_decision=False)
    return await service.undo(session, body.run, body.paths, by_owner=await is_owner(request))


@router.post("/{session}/changes/answer")
async def answer_held(
    request: Request, session: Session, body: HeldAnswer, service: ChangesDependency
) -> AnsweredPaths:
    """Apply what waits, or throw it away; 409 if what waits of the run is not what the hash was made of any more."""
    await require_owner(request, "Applying what waits")
    return AnsweredPaths(list(await service.answer(session, body.run, body.answer, body.paths, body.hash)))
