"""Routes of events: what failed at a subscriber, and having it delivered again."""

from typing import Annotated

from fastapi import APIRouter, Depends, Query

from parachute.base.answers import Answer
from parachute.base.services import provided
from parachute.events.bus.models import DeadLetter
from parachute.events.bus.service import Events

router = APIRouter(prefix="/api/events", tags=["events"])


EventsDependency = Annotated[Events, Depends(provided(Events))]


class ShownDeadLetter(Answer, frozen=True):
    """An event that failed at a subscriber at the last try."""

    id: str
    event: str
    source: str
    timestamp: str
    subscriber: str
    attempts: int
    error: str


class DeadLetters(Answer, frozen=True):
    """Events that failed at a subscriber, the newest first."""

    dead_letters: list[ShownDeadLetter]


class Retried(Answer, frozen=True):
    """The number of subscribers to which an event is delivered again."""

    delivering: int


@router.get("/dead-letters")
async def dead_letters(service: EventsDependency, limit: int = Query(100, ge=1, le=1000)) -> DeadLetters:
    """Events that failed at a subscriber at the last try, newest first."""
    return DeadLetters(list(map(_shown, await service.dead_letters(limit))))


@router.post("/dead-letters/{identifier}/retry")
async def retry(identifier: str, service: EventsDependency) -> Retried:
    """Deliver an event again to all at whom it failed."""
    return Retried(await service.retry(identifier))


def _shown(letter: DeadLetter) -> ShownDeadLetter:
    event = letter.event
    return ShownDeadLetter(
        event.id, event.name, event.source, event.timestamp, letter.subscriber, letter.attempts, letter.error
    )
