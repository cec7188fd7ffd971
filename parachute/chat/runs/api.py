"""Routes of runs (contract, sections 2 and 3)."""

import asyncio
from collections.abc import AsyncIterator
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Request, Response
from pydantic import BaseModel, ConfigDict, Field

from parachute.base.answers import Answer, Done
from parachute.base.errors import Conflict, NotAllowed
from parachute.base.services import provided, services_of
from parachute.chat.runs.events import Event
from parachute.chat.runs.inspection import SandboxInspection, SessionSandbox
from parachute.chat.runs.request import TurnRequest
from parachute.chat.runs.run import PendingQuestion, PersonsAgent, Run
from parachute.chat.runs.service import Runs
from parachute.chat.runs.taken import MessageKey
from parachute.chat.sessions.api import CallerDependency, SessionsDependency, check_level
from parachute.chat.sessions.models import OneSession, ShownSession
from parachute.chat.sessions.service import Sessions
from parachute.web.access.owner import is_owner, require_owner
from parachute.web.http.event_stream import EventStream
from parachute.web.http.integers import Count

router = APIRouter(prefix="/api/chat", tags=["runs"])
sandbox_router = APIRouter(prefix="/api/sandbox", tags=["sandbox"])

RunsDependency = Annotated[Runs, Depends(provided(Runs))]
TextForm = Literal["whole", "delta"]
"""The app takes the whole text again and again; of a long answer on a slow network that is megabytes."""


class _Body(BaseModel):
    model_config = ConfigDict(extra="ignore", strict=True)


class Injection(_Body):
    """A further message for a running turn, once under its key."""

    message: str
    idempotency_key: MessageKey | None = None


class QuestionAnswer(_Body):
    """Answers to a question: for each question a text or a list of texts."""

    request_id: str = Field(max_length=200)
    answers: dict[str, str | list[str]]


class Permission(_Body):
    """The answer to a permission request; `grant` is one of its suggested grants, for the rest of the session."""

    allow: bool
    grant: str | None = Field(default=None, max_length=4200)


class ActiveStreams(Answer, frozen=True):
    """Sessions that are being answered."""

    streams: list[str]


class StreamStatus(Answer, frozen=True):
    """A session is being answered, or not."""

    active: bool


class PendingQuestions(Answer, frozen=True):
    """Questions of the agent that wait."""

    pending: list[PendingQuestion]


@router.post("", response_class=Response, responses={200: {"content": {"text/event-stream": {}}}})
async def chat(
    request: Request,
    body: TurnRequest,
    service: RunsDependency,
    sessions: SessionsDependency,
    who: CallerDependency,
    text: TextForm = "whole",
) -> Response:
    """Send a message, once under an `idempotencyKey`; the answer streams as events. The run goes on when the reader leaves."""
    async with service.taken.asked(body.idempotency_key, body.session_id, body.message) as taken:
        if taken is not None:
            return EventStream(_documents(await service.follow(taken, as_deltas=text == "delta")))
        return await _begun(request, body, service, sessions, who.name, as_deltas=text == "delta")


async def _begun(
    request: Request, body: TurnRequest, service: Runs, sessions: Sessions, caller: str, *, as_deltas: bool
) -> Response:
    if called := await services_of(request).get(PersonsAgent).called(body):
        await require_owner(request, "The maintenance agent", is_decision=False)
        run = await service.begin(called[0], caller, called[1])
        return EventStream(_documents(_to_its_end(run, as_deltas=as_deltas)))
    await check_level(request, body.trust_level)
    if body.session_id != "new":
        await _check_session(request, body.session_id, sessions, service)
    elif body.trust_level is None and service.default_level(body.workspace_id) == "direct":
        try:
            await check_level(request, "direct")
        except NotAllowed:  # a session may always be more shut in than its workspace
            body.trust_level = "sandboxed"
    run = await service.begin(body, caller, by_owner=await is_owner(request))
    return EventStream(_documents(run.log.read(as_deltas=as_deltas)))


@router.get("/active-streams")
async def active_streams(service: RunsDependency) -> ActiveStreams:
    """Sessions that are being answered."""
    return ActiveStreams(service.active())


@router.get("/{session}/events", response_class=Response, responses={200: {"content": {"text/event-stream": {}}}})
async def events(
    session: str,
    service: RunsDependency,
    after: Count = 0,
    text: TextForm = "whole",
) -> Response:
    """Follow the session's running or last run from behind `after`, the `seq` of the last event that was seen."""
    return EventStream(_documents(await service.follow(session, after, as_deltas=text == "delta")))


@router.get("/{session}/stream-status")
async def stream_status(session: str, service: RunsDependency) -> StreamStatus:
    """Say if a session is being answered."""
    return StreamStatus(service.is_active(session))


@router.post("/{session}/abort")
async def abort(session: str, service: RunsDependency) -> Done:
    """Stop the session's run."""
    await service.abort(session)
    return Done()


@router.post("/{session}/inject")
async def inject(
    request: Request, session: str, body: Injection, service: RunsDependency, sessions: SessionsDependency
) -> Done:
    """Put a further message into the running turn."""
    await _check_session(request, session, sessions, service)
    async with service.taken.asked(body.idempotency_key, session, body.message) as taken:
        if taken is None:
            await service.inject(session, body.message, body.idempotency_key)
    return Done()


@router.post("/{session}/answer")
async def answer(
    request: Request, session: str, body: QuestionAnswer, service: RunsDependency, sessions: SessionsDependency
) -> Done:
    """Answer a question of the agent."""
    await _check_session(request, session, sessions, service)
    service.answer(session, body.request_id, body.answers)
    return Done()


@router.get("/{session}/pending-questions")
async def pending_questions(session: str, service: RunsDependency) -> PendingQuestions:
    """Questions of the agent that wait."""
    return PendingQuestions(service.pending_questions(session))


@router.post("/{session}/permissions/{request_id}")
async def permit(
    request: Request,
    session: str,
    request_id: str,
    body: Permission,
    service: RunsDependency,
    sessions: SessionsDependency,
) -> Done:
    """Answer a permission request."""
    await _check_session(request, session, sessions, service)
    await service.permit(session, request_id, allow=body.allow, grant=body.grant)
    return Done()


@router.post("/{session}/end")
async def end(session: str, service: RunsDependency, sessions: SessionsDependency) -> OneSession:
    """End a session now: hooks and modules hear of it. Its next message begins it again."""
    if service.is_active(session):
        raise Conflict("An answer in this conversation is still running.", "Wait, or stop it.", key="busy")
    return OneSession(ShownSession.showing(await sessions.end(session)))


@router.delete("/{session}")
async def delete(session: str, service: RunsDependency) -> Done:
    """Delete a session with its transcript and attachments; what runs in it is stopped first."""
    await service.delete(session)
    return Done()


@sandbox_router.get("/sessions/{session}")
async def explain(request: Request, session: str) -> SessionSandbox:
    """Compare a session's sandbox with what was asked for; one that sleeps is started."""
    await require_owner(request, "Inspecting a sandbox")
    return await services_of(request).get(SandboxInspection).explain(session)


async def _documents(events: AsyncIterator[tuple[int, Event]]) -> AsyncIterator[tuple[int, dict[str, Any]]]:
    async for seq, event in events:
        yield seq, event.to_json()


async def _to_its_end(run: Run, *, as_deltas: bool) -> AsyncIterator[tuple[int, Event]]:
    """The events of a run; the last one when its agent is gone, since whoever reads it may send the next message."""
    async for seq, event in run.log.read(as_deltas=as_deltas):
        if event.is_terminal and run.task is not None:
            await asyncio.wait({run.task})
        yield seq, event


async def _check_session(request: Request, session: str, sessions: Sessions, service: Runs) -> None:
    """Require the owner for a session that runs directly, in which anything can be done with the owner's rights."""
    found = await sessions.find(session)
    if found is not None:
        level = "direct" if service.is_direct(session) else found.trust_level
        await check_level(request, level, is_decision=False)
