"""One run, as long as it lives in memory."""

import asyncio
import time
import uuid
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from parachute.agents.client import AgentClient
from parachute.hooks.models import Added
from parachute.panic.brake import Brake
from parachute.runs import events
from parachute.runs.log import EventLog, said
from parachute.runs.preparation import Preparation
from parachute.runs.request import TurnRequest
from parachute.sessions.models import Owner, Session
from parachute.sessions.trust import normalize_trust_level

INJECTION_LIMIT = 10


@dataclass(slots=True)
class Question:
    """A question of the agent, or a permission it asks for, that waits for the person; `grants`: what may be granted."""

    identifier: str
    questions: list[dict[str, Any]]
    answer: asyncio.Future[Any]
    grants: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CutOff:
    """An earlier run that did not end well: the id of its message, and its (role, text) pairs.

    `is_recorded`: the session's words have them.
    """

    message: str
    texts: tuple[tuple[str, str], ...]
    is_recorded: bool


def cut_off(stored: Sequence[tuple[int, events.Event]]) -> CutOff | None:
    """A run as its stored events say it, None if it had not begun."""
    texts = tuple(said(stored))
    if not texts:
        return None
    message = next(event.get("id", "") for _, event in stored if event["type"] == "user_message")
    # A turn of which the agent took the message records its words at its end, also where that is an error.
    is_recorded = stored[-1][1]["type"] in events.TERMINAL and any("sessionResume" in event for _, event in stored)
    return CutOff(message, texts, is_recorded)


class Profile(Protocol):
    """What an agent of a module is given in place of what a conversation of a person has."""

    owner: Owner
    seconds: float
    """After so long a run is stopped."""

    async def prepare(self, session: Session, *, resume: bool) -> Preparation:
        """Everything that the next turn of a session needs; errors: ParachuteError."""

    async def finish(self, session: str) -> None:
        """Give back what `prepare` opened, also when it failed."""


@dataclass(slots=True)
class Run:
    """A message that is being answered; with a `profile` it comes from a module.

    `typed`: a person wrote it, so that a command in it may be obeyed. `by_owner`: that person may have it run directly, which
    it does where `is_direct`.

    `client` is set as long as the agent takes interrupts and further messages; `answered` says that its result is in.
    `message` is the id of its message, which the agent's program writes into the transcript.
    `cut_off` are the runs before it since the last one that ended well, `added` is what hooks want the agent of a new session
    to know.
    """

    session: Session
    request: TurnRequest
    log: EventLog
    is_new: bool
    cut_off: tuple[CutOff, ...] = ()
    profile: Profile | None = None
    message: str = field(default_factory=lambda: str(uuid.uuid4()))
    started: float = field(default_factory=time.monotonic)
    task: asyncio.Task[None] | None = None
    client: AgentClient | None = None
    answered: bool = False
    aborting: bool = False
    interrupted: bool = False
    brake: Brake | None = None
    status: str = "error"
    unanswered: dict[str, str] = field(default_factory=dict)
    waiting: list[tuple[str, str]] = field(default_factory=list)
    questions: dict[str, Question] = field(default_factory=dict)
    permissions: dict[str, Question] = field(default_factory=dict)
    texts: list[tuple[str, str]] = field(default_factory=list)
    added: Sequence[Added] = ()
    typed: bool = True
    by_owner: bool = False
    is_direct: bool = False

    @property
    def wanted_direct(self) -> bool:
        """Whether the message asked for a direct session."""
        return self.request.trust_level is not None and normalize_trust_level(self.request.trust_level) == "direct"

    @property
    def stopping(self) -> bool:
        """Whether somebody wants it to end now."""
        return self.aborting or self.interrupted or self._is_panic

    def stopped(self) -> None:
        """Log that it ended because somebody wanted it."""
        if self._is_panic:
            self.status = "aborted"
            self.log.append(events.PANIC)
            return
        self.status = "interrupted" if self.interrupted else "aborted"
        self.log.append(events.INTERRUPTED if self.interrupted else events.ABORTED)

    @property
    def _is_panic(self) -> bool:
        # Asked of the file: the supervisor may have ended the agent before core hears why.
        return self.brake is not None and self.brake.panic is not None

    @property
    def injections(self) -> int:
        """Messages that were put into the run and not answered yet."""
        return len(self.waiting) + max(0, len(self.unanswered) - 1)
