"""What an agent asks while it works: the policy decides, or the person does."""

import asyncio
import contextlib
import json
import logging
import uuid
from collections.abc import Awaitable, Callable
from typing import Any

from parachute.agents.models import ToolDecision
from parachute.agents.options import PERMISSION_SECONDS, prompt_pieces
from parachute.audit.service import Audit
from parachute.permissions.models import Effect
from parachute.permissions.policy import Policy
from parachute.runs.run import Question, Run

log = logging.getLogger(__name__)

QUESTION_SECONDS = 300
"""How long a question waits before the agent goes on without an answer (spec 001)."""

_CARD_SECONDS = 2.0


class Interaction:
    """The handler of one turn; questions appear in the run's log and are answered through the API."""

    def __init__(
        self,
        run: Run,
        policy: Policy,
        audit: Audit,
        granted: Callable[[], Awaitable[Policy]],
        *,
        question_seconds: float = QUESTION_SECONDS,
        permission_seconds: float = PERMISSION_SECONDS,
    ) -> None:
        self._run = run
        self._policy = policy
        self._audit = audit
        self._granted = granted
        self._question_seconds = question_seconds
        self._permission_seconds = permission_seconds
        self._shown: dict[str, asyncio.Event] = {}
        self.answers: dict[str, str] = {}
        self._known: list[str] = []

    def know(self, text: str) -> None:
        """Tell the agent something along with the message that it is to answer next."""
        self._known = prompt_pieces(text)

    async def context(self) -> str:
        """The next piece of what it was told to know; once, since what is said to a running turn belongs to the same answer."""
        return self._known.pop(0) if self._known else ""

    def tool_shown(self, call: str) -> None:
        """The `tool_use` event of a call is in the log."""
        self._shown.setdefault(call, asyncio.Event()).set()

    async def decide(self, tool: str, tool_input: dict[str, Any], call: str | None) -> ToolDecision:
        """Apply the policy; ask the person only where the policy says so and the client can answer."""
        if tool == "AskUserQuestion":
            return ToolDecision(None)
        decision = await asyncio.to_thread(self._policy.decide, tool, tool_input)
        allowed = decision.effect is Effect.ALLOW
        reason = decision.reason
        if decision.effect is Effect.ASK:
            allowed, reason = await self._ask_permission(tool, tool_input, decision.reason)
        if not allowed:
            self._run.log.append({"type": "permission_denied", "toolName": tool, "reason": reason})
        self._audit.append(
            event_type="tool_decision",
            source_type="agent",
            source_id=self._run.session.id,
            target_module="chat",
            target_endpoint=tool,
            success=allowed,
            error=None if allowed else reason,
        )
        return ToolDecision(allowed, reason)

    async def ask(self, questions: list[dict[str, Any]], call: str | None) -> dict[str, Any]:
        """Show the questions and wait; without an answer in time the agent goes on with none."""
        if call:
            # The app turns the card of the tool into the question: the card has to be there first.
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._shown.setdefault(call, asyncio.Event()).wait(), _CARD_SECONDS)
        identifier = call or str(uuid.uuid4())
        question = Question(identifier, questions, asyncio.get_running_loop().create_future())
        self._run.questions[identifier] = question
        self._run.log.append(
            {
                "type": "user_question",
                "requestId": identifier,
                "sessionId": self._run.session.id,
                "questions": questions,
            }
        )
        try:
            answers = await asyncio.wait_for(question.answer, self._question_seconds)
        except TimeoutError:
            answers = {}
        finally:
            self._run.questions.pop(identifier, None)
        if call:
            self.answers[call] = json.dumps({"answers": answers}, ensure_ascii=False)
        return {name: ", ".join(value) if isinstance(value, list) else value for name, value in answers.items()}

    async def _ask_permission(self, tool: str, tool_input: dict[str, Any], reason: str) -> tuple[bool, str]:
        if not self._run.request.can_answer_permissions:
            return False, f"{reason} This app cannot ask the owner for it."
        identifier = str(uuid.uuid4())
        suggested = await asyncio.to_thread(self._policy.suggested_grants, tool, tool_input)
        grants = tuple(f"{grant.access.value}:{grant.pattern}" for grant in suggested)
        request = Question(identifier, [], asyncio.get_running_loop().create_future(), grants)
        self._run.permissions[identifier] = request
        self._run.log.append(
            {
                "type": "permission_request",
                "requestId": identifier,
                "sessionId": self._run.session.id,
                "toolName": tool,
                "input": tool_input,
                "reason": reason,
                "suggestedGrants": list(grants),
            }
        )
        try:
            allowed = bool(await asyncio.wait_for(request.answer, self._permission_seconds))
        except TimeoutError:
            return False, "The owner did not answer in time."
        finally:
            self._run.permissions.pop(identifier, None)
        self._policy = await self._granted()
        return allowed, "The owner allowed it." if allowed else "The owner denied it."
