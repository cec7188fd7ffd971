"""The route by which hooks of the computer keep what they found worth remembering."""

from typing import Annotated

from fastapi import APIRouter, Depends
from pydantic import BaseModel, ConfigDict, Field

from parachute.automation.memory.service import MemoryKeeping
from parachute.automation.suggestions.own_memory import LINE, MOST_LINES
from parachute.base.services import provided
from parachute.security.origin import Origin

router = APIRouter(prefix="/api/memory", tags=["memory"])

MemoryDependency = Annotated[MemoryKeeping, Depends(provided(MemoryKeeping))]
Line = Annotated[str, Field(min_length=1, max_length=LINE)]


class Lines(BaseModel):
    """Lines about a conversation."""

    model_config = ConfigDict(extra="forbid", strict=True)

    session_id: str = Field(min_length=1, max_length=64)
    lines: list[Line] = Field(min_length=1, max_length=MOST_LINES)


class KeptLines(BaseModel):
    """Current place of the lines: the memory, or the suggestion that waits."""

    written: bool
    suggestion: str | None
    origin: Origin
    from_words: str = Field(description="The origin for a person, to be read after `from`.")


@router.post("")
async def keep(body: Lines, service: MemoryDependency) -> KeptLines:
    """Keep lines as memory; what the conversation has read from others makes them a suggestion, which shows it."""
    kept = await service.keep(body.session_id, body.lines)
    return KeptLines(
        written=kept.suggestion is None, suggestion=kept.suggestion, origin=kept.origin, from_words=kept.origin.words
    )
