"""The route of what happened in the turns of a session."""

from collections.abc import Sequence
from typing import Annotated

from fastapi import APIRouter, Depends, Query

from parachute.base.answers import Answer
from parachute.base.services import provided
from parachute.chat.runs.turns import ShownTurn, Turns

router = APIRouter(prefix="/api/chat", tags=["runs"])


class SessionTurns(Answer, frozen=True):
    """The newest turns of a session, the oldest of them first."""

    turns: Sequence[ShownTurn]


@router.get("/{session}/turns")
async def list_turns(
    session: str,
    service: Annotated[Turns, Depends(provided(Turns))],
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
) -> SessionTurns:
    """Tell what happened in the newest turns: files, hosts that were refused, tokens and costs; of many files the first."""
    return SessionTurns(await service.newest(session, limit))
