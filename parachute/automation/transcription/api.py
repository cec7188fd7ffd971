"""Routes of transcriptions."""

from collections.abc import Sequence
from typing import Annotated, Literal

from fastapi import APIRouter, Depends, Query
from msgspec.structs import asdict
from pydantic import BaseModel, ConfigDict, Field

from parachute.automation.transcription.models import Job, Segment, State
from parachute.automation.transcription.service import Transcriptions
from parachute.base.answers import Answer
from parachute.base.services import provided

router = APIRouter(prefix="/api/voice", tags=["voice"])

TranscriptionsDependency = Annotated[Transcriptions, Depends(provided(Transcriptions))]
Identifier = Annotated[str, Field(pattern=r"^[0-9a-f]{16}$")]


class Problem(Answer, frozen=True):
    """Problem, and its remedy."""

    key: str
    message: str
    hint: str | None


class VoiceStatus(Answer, frozen=True, kw_only=True):
    """Transcription on this computer; `ready`: nothing is missing, as far as can be told without trying."""

    ready: bool
    kind: Literal["model", "server", "none"]
    where: str | None
    model: str | None
    problem: Problem | None
    open: int


class TranscriptionState(Answer, frozen=True):
    """State of a transcription."""

    id: str
    path: str
    entry: str | None
    state: State
    progress: float | None
    attempts: int
    error: Problem | None
    language: str | None
    seconds: float | None
    created_at: str
    updated_at: str


class TranscriptionAnswer(TranscriptionState, frozen=True):
    """State of a transcription, with its text and timed segments."""

    text: str | None
    segments: Sequence[Segment]


class TranscriptionList(Answer, frozen=True):
    """Transcriptions, the newest first."""

    transcriptions: Sequence[TranscriptionState]


class Wanted(BaseModel):
    """A recording of the vault. `entry` gets the text, `again` also where it has one of ours already."""

    model_config = ConfigDict(extra="forbid", strict=True)

    path: str = Field(min_length=1, max_length=4096)
    entry: str | None = Field(default=None, min_length=1, max_length=200)
    language: str | None = Field(default=None, pattern=r"^[a-z]{2,3}$")
    again: bool = False


@router.get("")
async def voice_status(service: TranscriptionsDependency) -> VoiceStatus:
    """Status of transcription: its engine, and the parts that are missing."""
    found = await service.check()
    problem = found.problem
    return VoiceStatus(
        ready=problem is None,
        kind=found.kind,
        where=found.where,
        model=found.model,
        problem=Problem(problem.key, problem.message, problem.hint) if problem else None,
        open=await service.open_count(),
    )


@router.get("/transcriptions")
async def list_transcriptions(
    service: TranscriptionsDependency,
    entry: Annotated[str | None, Query(max_length=200)] = None,
    path: Annotated[str | None, Query(max_length=4096)] = None,
    folder: Annotated[str | None, Query(max_length=4096)] = None,
    limit: Annotated[int, Query(ge=1, le=500)] = 50,
) -> TranscriptionList:
    """The newest transcriptions, those of an entry of the journal, of a recording or of a folder of recordings if one is given."""
    found = await service.newest(limit, entry, path, folder)
    return TranscriptionList([_state(each) for each in found])


@router.post("/transcriptions")
async def transcribe(body: Wanted, service: TranscriptionsDependency) -> TranscriptionAnswer:
    """Put a recording of the vault into the queue; asked twice, it is the same transcription."""
    return _answer(await service.ask(body.path, entry=body.entry, language=body.language, again=body.again))


@router.get("/transcriptions/{identifier}")
async def get_transcription(identifier: Identifier, service: TranscriptionsDependency) -> TranscriptionAnswer:
    """One transcription, with its text when there is one."""
    return _answer(await service.get(identifier))


@router.post("/transcriptions/{identifier}/retry")
async def retry_transcription(identifier: Identifier, service: TranscriptionsDependency) -> TranscriptionAnswer:
    """Try one that failed or was cancelled again, and one that waits at once."""
    return _answer(await service.retry(identifier))


@router.delete("/transcriptions/{identifier}")
async def cancel_transcription(identifier: Identifier, service: TranscriptionsDependency) -> TranscriptionAnswer:
    """Take a recording out of the queue; the recording itself stays."""
    return _answer(await service.cancel(identifier))


def _state(job: Job) -> TranscriptionState:
    language, seconds = (job.result.language, job.result.seconds) if job.result else (None, None)
    error = None if job.error is None else Problem(**job.error)
    return TranscriptionState(
        *(job.id, job.path, job.entry, job.state, job.progress, job.attempts),
        *(error, language, seconds, job.created_at, job.updated_at),
    )


def _answer(job: Job) -> TranscriptionAnswer:
    result = job.result
    return TranscriptionAnswer(
        **asdict(_state(job)), text=result.text if result else None, segments=result.segments if result else ()
    )
