"""Questions and tool calls of an agent at work: the policy decides, or the person does."""

import asyncio
import json
import logging
import uuid
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from parachute.base.clock import SYSTEM, Clock
from parachute.base.errors import ParachuteError
from parachute.chat.agent_processes.models import ToolDecision
from parachute.chat.agent_processes.options import PERMISSION_SECONDS, prompt_pieces
from parachute.chat.origins.calls import CallOrigins
from parachute.chat.origins.run_origin import RunOrigin
from parachute.chat.runs import events
from parachute.chat.runs.postponed import PostponedCalls
from parachute.chat.runs.records import ToolRecords
from parachute.chat.runs.run import Question, Run
from parachute.chat.sessions.events import SHOWN_TOOLS
from parachute.events.inbox.service import Inbox
from parachute.security.audit.service import Audit
from parachute.security.permissions.models import Effect
from parachute.security.permissions.policy import Policy

log = logging.getLogger(__name__)

_Kept = TypeVar("_Kept")

QUESTION_SECONDS = 300
"""Longest wait for an answer before the agent goes on without one (spec 001)."""

_CARD_SECONDS = 10.0
_KEPT_CALLS, _KEPT_ANSWERS = 1000, 16
"""Of one turn, until the program has said of them what it does: one that never does fills no memory."""

_READ = "This conversation has read what came from {},"


class Interaction:
    """The handler of one turn; questions appear in the run's log and are answered through the API."""

    def __init__(
        self,
        run: Run,
        policy: Policy,
        audit: Audit,
        granted: Callable[[], Awaitable[Policy]],
        inbox: Inbox,
        postponed: PostponedCalls,
        *,
        refusal_of_page: Callable[[str], ParachuteError | None] | None = None,
        origin: RunOrigin,
        calls: CallOrigins,
        clock: Clock = SYSTEM,
    ) -> None:
        self._run = run
        self._policy = policy
        self.records = ToolRecords(audit, run, policy)
        self._granted = granted
        self._inbox = inbox
        self._postponed = postponed
        self._clock = clock
        self._refusal_of_page = refusal_of_page
        self._origin = origin
        self._calls = calls
        self._shown: dict[str, asyncio.Event] = {}
        self._judged: dict[str, tuple[str, dict[str, Any]]] = {}
        self._unjudged: dict[str, tuple[str, dict[str, Any]]] = {}
        self.answers: dict[str, tuple[str, bool]] = {}
        self.before_compaction: Callable[[str], Awaitable[None]] | None = None
        self._known: list[str] = []

    def know(self, text: str) -> None:
        """Add a text to the message that the agent answers next."""
        self._known = prompt_pieces(text)

    async def context(self) -> str:
        """Return the next piece of what goes with the message; once, since messages to a running turn belong to the same answer."""
        return self._known.pop(0) if self._known else ""

    async def compacting(self, trigger: str) -> None:
        """Tell who wants to know; nothing that goes wrong stops the turn."""
        if self.before_compaction is not None:
            await self.before_compaction(trigger)

    async def note_written(self) -> None:
        """Remember what commands of the turn may have written; a failure stops nothing: most of it is known since they began."""
        try:
            await self._calls.end(self._origin.value)
        except Exception:
            log.exception("What the commands of a turn wrote could not be noted.")

    def tool_used(self, call: str, name: str, arguments: dict[str, Any]) -> None:
        """The agent's program says that it calls a tool: one of a server is shown as it was judged, which may be yet to come."""
        shown = self._shown.setdefault(call, asyncio.Event())
        if shown.is_set():
            return
        judged = self._judged.get(call)
        if judged is not None:
            name, arguments = judged
        elif self.records.is_made_by_server(name):
            _keep(self._unjudged, call, (name, arguments), _KEPT_CALLS)
            return
        self._show(call, name, arguments)
        shown.set()

    def _judge(self, call: str | None, tool: str, tool_input: dict[str, Any]) -> None:
        """Remember what is judged, the first of that id, and show the call if the program has said already that it makes one."""
        if call is not None and self.records.is_made_by_server(tool) and call not in self._judged:
            _keep(self._judged, call, (tool, tool_input), _KEPT_CALLS)
            if self._unjudged.pop(call, None) is not None:
                self.tool_used(call, tool, tool_input)

    def result_of(self, call: str, said: tuple[str, bool]) -> tuple[str, bool]:
        """The result to show of a call: what was answered here, and otherwise what the program said."""
        if (unjudged := self._unjudged.pop(call, None)) is not None:
            self._show(call, *unjudged)  # the program itself has refused it, nothing was made
        return self.answers.pop(call, said)

    def tool_made(self, call: str | None, answer: tuple[str, bool]) -> None:
        """Keep and record what a call has answered that the server has made."""
        if call is not None:
            _keep(self.answers, call, answer, _KEPT_ANSWERS)
            self.records.ended(call, is_error=answer[1])

    def tool_progress(self, call: str, said: str) -> None:
        """Show how far a call is that the server makes."""
        self._run.log.append(events.ToolProgress(call, said))

    def _show(self, call: str, name: str, arguments: dict[str, Any]) -> None:
        self._run.log.append(events.ToolUse(events.Tool(call, SHOWN_TOOLS.get(name, name), arguments)))

    async def decide(self, tool: str, tool_input: dict[str, Any], call: str | None) -> ToolDecision:
        """Apply the policy; ask the person only where the policy says so and the client can answer."""
        self._judge(call, tool, tool_input)
        decision = await asyncio.to_thread(self._policy.decide, tool, tool_input)
        if tool == "AskUserQuestion" and decision.effect is not Effect.DENY:
            return ToolDecision(None)
        allowed = decision.effect is Effect.ALLOW
        was_asked = decision.effect is Effect.ASK
        reason = decision.reason
        if was_asked:
            allowed, reason = await self._ask_permission(tool, tool_input, decision.reason)
        if allowed and tool == "WebFetch" and self._refusal_of_page is not None:
            # Its program says of what the proxy refuses that the proxy refused it, and nothing of what to do.
            refused = self._refusal_of_page(str(tool_input.get("url", "")))
            allowed, reason = (refused is None), str(refused or reason)
        if allowed and (unseen := await self._unseen(tool, tool_input)):
            was_asked = True
            allowed, reason = await self._ask_permission(tool, tool_input, unseen, by_grant=False)
        if allowed:
            # Before it is made: what the conversation has read is known also when the computer ends now.
            await self._origin.lower(await self._calls.of(tool, tool_input, self._origin.value))
            await self._calls.note_written(tool, self._origin.value)
            self.records.begun(tool, tool_input, call)
        else:
            self._run.log.append(events.PermissionDenied(tool, reason))
            self.records.refused(tool, tool_input, reason)
        return ToolDecision(allowed, reason, was_asked)

    async def _unseen(self, tool: str, tool_input: dict[str, Any]) -> str | None:
        """Return why a call waits for the owner: it would store content that others may have influenced. None for all others."""
        origin = self._origin.value
        if not origin.may_record and (module := self._calls.writes_of_module(tool)) is not None:
            return f"{_READ.format(origin.words)} so that it writes nothing into {module} by itself."
        if not origin.may_instruct and await self._calls.writes_instructions(tool, tool_input):
            return f"{_READ.format(origin.words)} so that it writes no instructions for agents by itself."
        return None

    async def ask(self, questions: list[dict[str, Any]], call: str | None) -> dict[str, Any]:
        """Show the questions and wait; without an answer in time the agent goes on with none."""
        if call:
            # The app turns the card of the tool into the question: the card has to be there first.
            await self._clock.wait(self._shown.setdefault(call, asyncio.Event()), _CARD_SECONDS)
        identifier = call or str(uuid.uuid4())
        question = Question(identifier, questions, asyncio.get_running_loop().create_future())
        self._run.questions[identifier] = question
        self._run.log.append(events.UserQuestion(identifier, self._run.session.id, questions))
        self._inbox.changed()
        try:
            async with self._clock.timeout(QUESTION_SECONDS):
                answers = await question.answer
        except TimeoutError:
            answers = {}
        finally:
            self._run.questions.pop(identifier, None)
            self._inbox.changed()
        if call:
            self.answers[call] = json.dumps({"answers": answers}, ensure_ascii=False), False
        return {name: ", ".join(value) if isinstance(value, list) else value for name, value in answers.items()}

    async def _ask_permission(
        self, tool: str, tool_input: dict[str, Any], reason: str, *, by_grant: bool = True
    ) -> tuple[bool, str]:
        """Ask the owner; without `by_grant` for this call alone. Where nobody is there it is refused, and may be allowed later."""
        session = self._run.session.id
        if self._postponed.take(session, tool, tool_input):
            return True, "The owner has allowed it since."
        suggested = await asyncio.to_thread(self._policy.suggested_grants, tool, tool_input) if by_grant else ()
        grants = tuple(map(str, suggested))
        details = {"tool": tool, "input": tool_input, "reason": reason}
        # Asked for again, it is the same item: a button that was shown for it goes on being right.
        identifier = self._postponed.withdraw(session, tool, tool_input) or str(uuid.uuid4())
        request = Question(identifier, [], asyncio.get_running_loop().create_future(), grants, details)
        seconds: float = PERMISSION_SECONDS
        if not self._run.request.can_answer_permissions:
            seconds = min(seconds, self._inbox.seconds_watched)
        if seconds <= 0:
            instead = "" if by_grant else " You may also propose it with the tool `suggest`, if you have it."
            return False, f"{reason} The owner is not watching the inbox. {self._postpone(request)}{instead}"
        self._run.permissions[identifier] = request
        self._run.log.append(
            events.PermissionRequest(
                request_id=identifier,
                session_id=session,
                tool_name=tool,
                input=tool_input,
                reason=reason,
                suggested_grants=list(grants),
            )
        )
        self._inbox.changed()
        try:
            async with self._clock.timeout(seconds):
                allowed = bool(await request.answer)
        except TimeoutError:
            self._run.permissions.pop(identifier, None)
            return False, f"The owner did not answer in time. {self._postpone(request)}"
        finally:
            self._run.permissions.pop(identifier, None)
            self._inbox.changed()
        self._policy = await self._granted()
        return allowed, "The owner allowed it." if allowed else "The owner denied it."

    def _postpone(self, request: Question) -> str:
        """Leave a request to the owner for later, and say so."""
        if not self._postponed.put(self._run, request):
            return "Too many calls wait for the owner already: do without it, or tell them."
        self._inbox.changed()
        return (
            "It waits there for the owner: say what it is for, and make this very call again once they have allowed it."
        )


def _keep(kept: dict[str, _Kept], key: str, value: _Kept, most: int) -> None:
    """Keep a value, and drop the oldest where there are too many."""
    kept[key] = value
    if len(kept) > most:
        del kept[next(iter(kept))]
