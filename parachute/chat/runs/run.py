"""A run in memory."""

import asyncio
import json
import time
import uuid
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from msgspec import Struct, field
from msgspec.structs import replace

from parachute.base.answers import Answer
from parachute.base.clock import now
from parachute.chat.agent_processes.client import AgentClient
from parachute.chat.origins.run_origin import RunOrigin
from parachute.chat.runs import events
from parachute.chat.runs.log import EventLog, said
from parachute.chat.runs.preparation import Preparation
from parachute.chat.runs.request import TurnRequest
from parachute.chat.sessions.models import Owner, Session
from parachute.events.hooks.models import Added
from parachute.llm.gateway.models import Usage
from parachute.security.kill_switch.switch import KillSwitch
from parachute.security.origin import Origin

INJECTION_LIMIT = 10
_SHOWN = 500
"""Characters of a tool that was at work."""

STOPPED = "Stopped before it finished."
"""The result of a tool in which a run was stopped; the agent's program says that it was refused."""


class PendingQuestion(Answer, frozen=True):
    """A question that waits, as the app reads it."""

    request_id: str
    questions: list[dict[str, Any]]


class Question(Struct):
    """A question of the agent, or a permission it asks for, that waits for the person.

    `grants` are what may be granted, `details` says which tool a permission is for.
    """

    identifier: str
    questions: list[dict[str, Any]]
    answer: asyncio.Future[Any]
    grants: tuple[str, ...] = ()
    details: Mapping[str, Any] = field(default_factory=dict)
    since: str = field(default_factory=now)


class CutOff(Struct, frozen=True):
    """An earlier run that did not end well: the id of its message, and its (role, text) pairs.

    `is_recorded`: they are among the stored words of the session. `at_work`: the tools that it was stopped in.
    """

    message: str
    texts: tuple[tuple[str, str], ...]
    is_recorded: bool
    at_work: tuple[str, ...] = ()


def cut_off(stored: Sequence[tuple[int, events.Event]]) -> CutOff | None:
    """Read a run from its stored events; None if it had not begun."""
    texts = tuple(said(stored))
    if not texts:
        return None
    message = next(event.id for _, event in stored if isinstance(event, events.UserMessage))
    # A turn of which the agent took the message records its words at its end, also where that is an error.
    is_recorded = stored[-1][1].is_terminal and any(_has_begun(event) for _, event in stored)
    tools = {event.tool.id: event.tool for _, event in stored if isinstance(event, events.ToolUse)}
    for _, event in stored:
        if isinstance(event, events.ToolResult) and event.content != STOPPED:
            tools.pop(event.tool_use_id, None)
    at_work = tuple(f"{tool.name} {json.dumps(tool.input, ensure_ascii=False)}"[:_SHOWN] for tool in tools.values())
    return CutOff(message, texts, is_recorded, at_work)


def _has_begun(event: events.Event) -> bool:
    return isinstance(event, events.Session | events.TurnDone) and event.session_resume is not None


class Profile(Protocol):
    """The preparation of an agent that no person talks to, in place of that of a conversation."""

    owner: Owner
    seconds: float
    """After so long a run is stopped."""

    origin: Origin
    """Origin of the message and of all that the agent is told with it."""

    async def prepare(self, session: Session, *, resume: bool) -> Preparation:
        """Prepare the next turn of a session; errors: ParachuteError."""

    async def finish(self, session: str) -> None:
        """Give back what `prepare` opened, also when it failed."""


class PersonsAgent(ABC):
    """An agent of the computer itself that a person calls by its name."""

    @abstractmethod
    async def called(self, request: TurnRequest) -> tuple[TurnRequest, Profile] | None:
        """Return the request and the profile of a message that calls it, None for all others; error: InvalidInput."""


class Run(Struct):
    """A message that is being answered; with a `profile` it comes from a module.

    `typed`: a person wrote it, so that a command in it may be obeyed. `by_owner`: that person may have it run directly, which
    it does where `is_direct`.

    `client` is set as long as the agent takes interrupts and further messages; `answered` says that its result is in.
    `caller` asked for it, `used` is what it has cost.
    `message` is the id of its message, which the agent's program writes into the transcript, `injected` are those of further ones.
    `cut_off` are the runs before it since the last one that ended well, `added` is what hooks add to a new session;
    `knows`: modules add what they know. `given` is the origin of the message, `origin` that of all that has entered it by now.
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
    kill_switch: KillSwitch | None = None
    status: str = "error"
    unanswered: dict[str, str] = field(default_factory=dict)
    waiting: list[tuple[str, str]] = field(default_factory=list)
    questions: dict[str, Question] = field(default_factory=dict)
    permissions: dict[str, Question] = field(default_factory=dict)
    texts: list[tuple[str, str]] = field(default_factory=list)
    injected: list[str] = field(default_factory=list)
    added: Sequence[Added] = ()
    knows: bool = False
    given: Origin = Origin.OWNER
    origin: RunOrigin | None = None
    typed: bool = True
    by_owner: bool = False
    is_direct: bool = False
    caller: str = ""
    used: Usage | None = None
    model: str | None = None

    @property
    def duration_ms(self) -> int:
        """Milliseconds since it began."""
        return round((time.monotonic() - self.started) * 1000)

    @property
    def stopping(self) -> bool:
        """True as soon as somebody wants it to end."""
        return self.aborting or self.interrupted or self._is_panic

    def stopped(self) -> None:
        """Log that it ended because somebody wanted it."""
        if self._is_panic:
            self.status, end = "aborted", events.PANIC
        else:
            self.status = "interrupted" if self.interrupted else "aborted"
            end = events.INTERRUPTED if self.interrupted else events.ABORTED
        self.log.append(replace(end, partial_text=self.log.partial_text()))

    def cancel_questions(self) -> None:
        """Let nothing wait for the person any more."""
        for question in (*self.questions.values(), *self.permissions.values()):
            question.answer.cancel()

    @property
    def _is_panic(self) -> bool:
        # Asked of the file: the supervisor may have ended the agent before the server hears why.
        return self.kill_switch is not None and self.kill_switch.panic is not None

    @property
    def injections(self) -> int:
        """Messages that were put into the run and not answered yet."""
        return len(self.waiting) + max(0, len(self.unanswered) - 1)
