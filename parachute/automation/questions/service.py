"""Asks one question by way of an agent: the agent's program, with no tools, in a sandbox that is gone with the answer."""

import asyncio
import contextlib
import uuid
from typing import Any

from parachute.base.errors import ParachuteError
from parachute.base.files import private_folder, remove_tree
from parachute.chat.agent_processes.client import AgentClient
from parachute.chat.agent_processes.models import AgentSpecification, ToolDecision
from parachute.chat.agent_processes.pool import AgentPool
from parachute.chat.runs.preparation import AgentServices
from parachute.chat.sessions.models import is_session_id
from parachute.llm.gateway.models import Usage
from parachute.llm.gateway.prices import dollars
from parachute.llm.gateway.questions import Answer, Asked, not_answered
from parachute.sandbox.engines.limits import Limits

_LIMITS = Limits(memory_megabytes=768, cpus=1.0, processes=128)
_USAGE = {
    "input_tokens": "input_tokens",
    "output_tokens": "output_tokens",
    "cache_read_tokens": "cache_read_input_tokens",
    "cache_write_tokens": "cache_creation_input_tokens",
}


class _Failed(Exception):
    """The agent ended its turn with an error."""


class _NoTools:
    """The handler of a turn in which nothing is allowed and nobody answers."""

    async def context(self) -> str:
        return ""

    async def compacting(self, trigger: str) -> None:
        pass

    async def decide(self, tool: str, tool_input: dict[str, Any], call: str | None) -> ToolDecision:
        return ToolDecision(False, "There are no tools here.")

    def tool_made(self, call: str | None, answer: tuple[str, bool]) -> None:
        pass

    def tool_progress(self, call: str, said: str) -> None:
        pass

    async def ask(self, questions: list[dict[str, Any]], call: str | None) -> dict[str, Any]:
        return {}


class AgentQuestions:
    """No conversation is made of a question: no row, no events, and its transcript goes with its sandbox."""

    def __init__(self, services: AgentServices, pool: AgentPool) -> None:
        self._services = services
        self._pool = pool
        self._open = services.home.run / "questions"
        """A folder for each that is being asked: after a kill its transcript is still to be removed."""

    async def start(self) -> None:
        """Remove what a killed server has left."""
        await asyncio.to_thread(self._tidy)

    async def reason_unavailable(self) -> str | None:
        """The reason why there is no sandbox for such an agent, or None."""
        reason = await self._services.sandboxes.reason_unavailable()
        return f"The login of a subscription needs an agent in a sandbox. {reason}" if reason else None

    async def ask(self, asked: Asked) -> Answer:
        """Return the answer; errors: NotAnswered, Unavailable, Stopped."""
        services, session = self._services, str(uuid.uuid4())
        await services.sandboxes.require()
        try:
            await asyncio.to_thread(private_folder, self._open / session)
            endpoint = await services.gateway.open(
                session, asked_by=asked.asked_by, most_tokens=asked.max_tokens, wanted=asked.wanted
            )
            execution = await services.sandboxes.confine(session, endpoint, (), egress=False, limits=_LIMITS)
            client, _ = await self._pool.acquire(
                AgentSpecification(
                    session=session,
                    resume=False,
                    execution=execution,
                    endpoint=endpoint,
                    system_prompt=asked.system or "Answer the question.",
                    tools=(),
                    model=asked.model,
                    asks_questions=False,
                    answers_once=True,
                )
            )
            try:
                text, reason, counts = await _answer(client, asked.prompt)
            except _Failed as failure:
                services.gateway.kill_switch.check()  # then that is why
                raise not_answered(services.gateway.take_problem(session), str(failure)) from failure
            finally:
                services.gateway.pause(session)
                self._pool.release(client, keep=False)
        finally:
            await asyncio.shield(asyncio.create_task(self._end(session), name=f"end question {session}"))
        return Answer(text, asked.model, reason, _usage(asked.model, counts))

    async def _end(self, session: str) -> None:
        await self._pool.discard(session)
        await self._services.gateway.close(session)
        opened = self._services.sandboxes.opened
        with contextlib.suppress(ParachuteError):  # the supervisor is gone, and its sandboxes with it
            await opened.close(session)
        opened.forget(session)
        await asyncio.to_thread(self._forget, session)

    def _tidy(self) -> None:
        for left in private_folder(self._open).iterdir():
            if is_session_id(left.name):
                self._forget(left.name)

    def _forget(self, session: str) -> None:
        self._services.sessions.transcripts.delete(session)
        for folder in (self._services.home.run / "sandbox", self._open):
            remove_tree(folder / session)


async def _answer(client: AgentClient, prompt: str) -> tuple[str, str | None, dict[str, Any]]:
    """The answer, why it ended, and what it used; error: _Failed."""
    # Not at the top, for the server's start.
    from claude_agent_sdk import AssistantMessage, ResultMessage, StreamEvent, TextBlock

    client.handler = _NoTools()
    # Composed: no `@path` and no `/command` in it means anything.
    await client.send(prompt, str(uuid.uuid4()), composed=True)
    said: list[str] = []
    while True:
        message = await client.receive()
        if isinstance(message, AssistantMessage) and not message.error:
            said += [block.text for block in message.content if isinstance(block, TextBlock)]
        elif isinstance(message, StreamEvent) and message.event.get("delta", {}).get("stop_reason") == "max_tokens":
            return "".join(said), "max_tokens", message.event.get("usage") or {}
        elif isinstance(message, ResultMessage):
            if message.is_error:
                raise _Failed(message.result or "; ".join(message.errors or []) or "The agent gave no answer.")
            return "".join(said), message.stop_reason, message.usage or {}


def _usage(model: str, counts: dict[str, Any]) -> Usage:
    usage = Usage(requests=1, **{name: counts.get(field) or 0 for name, field in _USAGE.items()})
    usage.dollars = dollars(model, usage)
    return usage
