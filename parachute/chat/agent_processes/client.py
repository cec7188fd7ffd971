"""One agent process and the SDK's client for it."""

import asyncio
import contextlib
import logging
import uuid
from collections import deque
from collections.abc import AsyncIterator
from functools import partial
from typing import TYPE_CHECKING, Any

from parachute.base.clock import SYSTEM, Clock
from parachute.base.errors import Unavailable
from parachute.base.files import atomic_write
from parachute.chat.agent_processes import options
from parachute.chat.agent_processes.helpers import waited_for
from parachute.chat.agent_processes.models import AgentFiles, AgentSpecification, ModuleTools, TurnHandler
from parachute.chat.agent_processes.tools import ToolServer

# The SDK is imported in functions: it takes a second of a small processor, which the start of the server has not.
if TYPE_CHECKING:
    from claude_agent_sdk import ClaudeSDKClient, Message

log = logging.getLogger(__name__)

_QUEUE = 64
"""Messages that wait for the turn; it takes them at once, and while none is running they are dropped."""

_STDERR_LINES = 20

_NO_RUNNER = (69, 70)
"""Exit codes of the wrapper when there is no runner to connect to, or not any more."""


class AgentEnded(Unavailable):
    """The agent's process ended before its turn did; `with_sandbox`: its sandbox, or the runner of direct ones, did as well."""

    key = "agent_ended"

    def __init__(self, message: str, *, with_sandbox: bool = False) -> None:
        super().__init__(message)
        self.with_sandbox = with_sandbox


class AgentClient:
    """Keeps one connected client; the turn that uses it sets `handler`, and without one every tool call is denied."""

    def __init__(
        self, specification: AgentSpecification, files: AgentFiles, tools: ModuleTools, clock: Clock = SYSTEM
    ) -> None:
        self.specification = specification
        self.fingerprint = specification.fingerprint()
        self.last_used = clock.elapsed()
        self.ended = False
        self._handler: TurnHandler | None = None
        self._allowed: set[str] = set()
        self._server = ToolServer(specification.session, specification.module_tools, tools, clock)
        self._files = files
        self._prompt = files.prompts / f"{specification.session}-{uuid.uuid4().hex}.md"
        self._client: ClaudeSDKClient | None = None
        self._queue: asyncio.Queue[Message | None] = asyncio.Queue(_QUEUE)
        self._reader: asyncio.Task[None] | None = None
        self._stderr: deque[str] = deque(maxlen=_STDERR_LINES)
        self._runner_gone = False
        self._unreadable = ""

    @property
    def handler(self) -> TurnHandler | None:
        """The turn that uses this client; setting None ends what its tools still do."""
        return self._handler

    @handler.setter
    def handler(self, handler: TurnHandler | None) -> None:
        self._handler = handler
        if handler is None:
            self._server.end_turn()

    async def connect(self) -> None:
        """Start the process; error: AgentEnded with what it said."""
        from claude_agent_sdk import ClaudeSDKClient

        built = options.build(
            self.specification,
            self._files,
            self._prompt,
            self._server.configuration(),
            pre_tool_use=self._pre_tool_use,
            prompt_submit=self._prompt_submit,
            pre_compact=self._pre_compact,
            can_use_tool=self._can_use_tool,
            stderr=self._stderr.append,
        )
        await asyncio.to_thread(atomic_write, self._prompt, self.specification.system_prompt)
        self._client = ClaudeSDKClient(built)
        try:
            await self._client.connect()
        except Exception as error:  # the SDK raises some of its failures as plain exceptions: no answer in time is one
            self.ended = True
            self._runner_gone = getattr(error, "exit_code", None) in _NO_RUNNER
            raise self._end(f"The agent could not be started: {self.complaint() or error}") from error
        self._reader = asyncio.create_task(self._read(), name=f"agent {self.specification.session}")

    async def send(self, content: str | list[dict[str, Any]], identifier: str, *, composed: bool) -> None:
        """Send a message of the person; `composed` keeps the program from expanding anything in it."""
        message: dict[str, Any] = {
            "type": "user",
            "message": {"role": "user", "content": content},
            "parent_tool_use_id": None,
            "uuid": identifier,
        }
        if composed:
            message["client_composed"] = True

        async def one() -> AsyncIterator[dict[str, Any]]:
            yield message

        from claude_agent_sdk import ClaudeSDKError

        assert self._client is not None
        try:
            await self._client.query(one())
        except ClaudeSDKError as error:
            self.ended = True
            raise self._end(f"The agent has ended: {self.complaint() or error}") from error

    async def receive(self) -> "Message":
        """The next message of the agent; error: AgentEnded."""
        message = await self._queue.get()
        if message is None:
            self._queue.put_nowait(None)
            raise self._end(f"The agent ended during its answer. {self._unreadable or self.complaint()}".strip())
        return message

    def forget_messages(self) -> None:
        """Drop what the agent said after the end of its last turn: the next turn must not take it for its own."""
        while not self.ended and not self._queue.empty():
            self._queue.get_nowait()

    async def interrupt(self) -> None:
        """Ask the agent to stop its turn; its result follows."""
        assert self._client is not None
        await self._client.interrupt()

    async def close(self) -> None:
        """End the process, after up to ten seconds in which it may end on its own."""
        self.ended = True
        await self._server.close()
        if self._client is not None:
            with contextlib.suppress(Exception):
                await self._client.disconnect()
        if self._reader:
            self._reader.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._reader
        with contextlib.suppress(OSError):  # what a read-only disk keeps is removed by the next server
            self._prompt.unlink(missing_ok=True)

    def complaint(self) -> str:
        """The last lines that the process wrote to standard error."""
        return " ".join(self._stderr)[-500:]

    def _end(self, message: str) -> AgentEnded:
        return AgentEnded(message, with_sandbox=self._runner_gone)

    async def _read(self) -> None:
        from claude_agent_sdk import CLIJSONDecodeError

        assert self._client is not None
        try:
            async for message in self._client.receive_messages():
                if self._handler is not None:
                    await self._queue.put(message)
        except CLIJSONDecodeError as error:
            log.warning("The stream of session %s ended: %s", self.specification.session, error)
            self._unreadable = f"It sent an invalid message, or one of more than {options.MAXIMUM_LINE // 1024**2} MB."
        except Exception as error:  # whatever broke the stream, the turn must hear of its end
            log.debug("The stream of session %s ended: %s", self.specification.session, error)
            self._runner_gone = getattr(error, "exit_code", None) in _NO_RUNNER
        finally:
            self.ended = True
            if self._queue.full():
                self._queue.get_nowait()
            self._queue.put_nowait(None)

    async def _pre_tool_use(self, hook_input: Any, call: str | None, context: Any) -> dict[str, Any]:
        handler = self._handler
        if handler is None:
            return _hook_answer("deny", "No turn is running.")
        tool, tool_input = hook_input["tool_name"], hook_input["tool_input"]
        try:
            decision = await handler.decide(tool, tool_input, call)
        except Exception:
            log.exception("The rules for a tool call failed.")
            return _hook_answer("deny", "This call could not be judged, so it is refused.")
        if decision.allowed is None:
            return {}
        if not decision.allowed:
            return _hook_answer("deny", decision.reason)
        if handler is self._handler:
            made = partial(handler.tool_made, call)
            tell = partial(handler.tool_progress, call) if call is not None else None
            self._server.permit(tool, tool_input, made, tell, at_once=decision.was_asked)
            if call is not None and self.specification.execution.view is not None:
                self._allowed.add(call)
        return _hook_answer("allow", decision.reason, waited_for(tool, tool_input))

    async def _prompt_submit(self, hook_input: Any, call: str | None, context: Any) -> dict[str, Any]:
        handler = self._handler
        known = await handler.context() if handler is not None else ""
        if not known:
            return {}
        return {"hookSpecificOutput": {"hookEventName": "UserPromptSubmit", "additionalContext": known}}

    async def _pre_compact(self, hook_input: Any, call: str | None, context: Any) -> dict[str, Any]:
        if (handler := self._handler) is not None:
            await handler.compacting(str(hook_input.get("trigger")))
        return {}

    async def _can_use_tool(self, tool: str, tool_input: dict[str, Any], context: Any) -> Any:
        from claude_agent_sdk import PermissionResultAllow, PermissionResultDeny

        if context.tool_use_id in self._allowed:
            # The program asks all the same about what editors and git obey. In a view it waits for the owner, who then sees it.
            self._allowed.discard(context.tool_use_id)
            return PermissionResultAllow(updated_input=tool_input)
        if tool != "AskUserQuestion" or self.handler is None:
            return PermissionResultDeny(message=f"{tool} was not allowed.")
        questions = tool_input.get("questions")
        answers = await self.handler.ask(questions if isinstance(questions, list) else [], context.tool_use_id)
        return PermissionResultAllow(updated_input={**tool_input, "answers": answers})


def _hook_answer(decision: str, reason: str, changed_input: dict[str, Any] | None = None) -> dict[str, Any]:
    output: dict[str, Any] = {
        "hookEventName": "PreToolUse",
        "permissionDecision": decision,
        "permissionDecisionReason": reason,
    }
    if changed_input is not None:
        output["updatedInput"] = changed_input
    return {"hookSpecificOutput": output}
