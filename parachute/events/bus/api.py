"""Routes of events: what failed at a subscriber, and having it delivered again."""

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query

from parachute.base.services import provided
from parachute.events.bus.service import Events

router = APIRouter(prefix="/api/events", tags=["events"])


EventsDependency = Annotated[Events, Depends(provided(Events))]


@router.get("/dead-letters")
async def dead_letters(service: EventsDependency, limit: int = Query(100, ge=1, le=1000)) -> dict[str, Any]:
    """Events that failed at a subscriber at the last try, newest first."""
    return {
        "dead_letters": [
            {
                "id": letter.event.id,
                "event": letter.event.name,
                "source": letter.event.source,
                "timestamp": letter.event.timestamp,
                "subscriber": letter.subscriber,
                "attempts": letter.attempts,
                "error": letter.error,
            }
            for letter in await service.dead_letters(limit)
        ]
    }


@router.post("/dead-letters/{identifier}/retry")
async def retry(identifier: str, service: EventsDependency) -> dict[str, Any]:
    """Deliver an event again to all at whom it failed."""
    return {"delivering": await service.retry(identifier)}
