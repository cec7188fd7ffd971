"""The agent's messages as the app's events."""

import json
from collections.abc import Callable
from typing import Any

from parachute.chat.runs import events
from parachute.chat.runs.interaction import Interaction
from parachute.chat.runs.run import STOPPED, Run
from parachute.chat.sessions.events import report_of
from parachute.chat.sessions.messages import result_text

# The SDK is imported in functions: it takes a second of a small processor, which the start of the server has not.

_CONTEXT_TOKENS = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens", "output_tokens")


class Conversation:
    """Writes the messages of one run into its log; `text` collects what the agent said to the person.

    `tool_done` is called when a tool of the agent or of a helper of it has done something.
    """

    def __init__(self, run: Run, interaction: Interaction, tool_done: Callable[[], None] | None = None) -> None:
        self._run = run
        self._tool_done = tool_done
        self._interaction = interaction
        self._streamed: set[str] = set()
        self._streaming: str | None = None
        self._is_whole = True
        self._said: list[str] = []
        self._stretch = 0
        self._block_open = False
        self._before = (0, False)
        self._tokens: dict[str, int] = {}
        self.model: str | None = None
        self.initialized = False
        self.error: str | None = None

    @property
    def context_tokens(self) -> int:
        """Tokens of the model's context that the last request of the conversation and its answer take; helpers have their own."""
        return sum(self._tokens.values())

    @property
    def text(self) -> str:
        """All text so far."""
        return "".join(self._said).strip()

    def take(self, message: Any) -> None:
        """Add a message other than the result."""
        from claude_agent_sdk import AssistantMessage, StreamEvent, SystemMessage, UserMessage

        if isinstance(message, UserMessage):
            self._record_results(message)
            if self._tool_done is not None:
                self._tool_done()
        if getattr(message, "parent_tool_use_id", None):
            return  # a helper of the agent talks to the agent, not to the person
        if isinstance(message, StreamEvent):
            self._stream(message.event)
        elif isinstance(message, AssistantMessage):
            self._assistant(message)
        elif isinstance(message, UserMessage):
            self._user(message)
        elif isinstance(message, SystemMessage) and message.subtype == "api_retry":
            self._take_back()
        elif isinstance(message, SystemMessage) and message.subtype == "init" and not self.initialized:
            self.initialized = True
            self._run.log.append(events.Init(message.data.get("tools", [])))

    def _stream(self, event: dict[str, Any]) -> None:
        kind = event.get("type")
        if kind == "message_start":
            self._take_back()
            self._is_whole, self._before = False, (len(self._said), self._block_open)
            self._streaming = str(event["message"].get("id"))
            self._note_model(event["message"].get("model"))
            self._note_tokens(event["message"].get("usage"))
        elif kind == "message_delta":
            # The end of a message comes also where it was broken off; this does not.
            self._is_whole = True
            self._note_tokens(event.get("usage"))
        elif kind == "content_block_start" and event["content_block"].get("type") == "text":
            self._begin_text()
        elif kind == "content_block_delta" and event["delta"].get("type") == "text_delta":
            if self._streaming:
                self._streamed.add(self._streaming)
            self._say(event["delta"].get("text", ""))

    def _assistant(self, message: Any) -> None:
        from claude_agent_sdk import ServerToolResultBlock, ServerToolUseBlock, TextBlock, ThinkingBlock, ToolUseBlock

        if message.error:
            # The program says API errors as if the model had; the result that follows has the facts.
            self.error = message.error
            return
        if message.message_id != self._streaming:
            self._take_back()
        self._note_model(message.model)
        for block in message.content:
            if isinstance(block, TextBlock):
                if message.message_id not in self._streamed:
                    self._begin_text()
                    self._say(block.text)
            elif isinstance(block, ThinkingBlock):
                if block.thinking:
                    self._run.log.append(events.Thinking(block.thinking))
            elif isinstance(block, ToolUseBlock | ServerToolUseBlock):
                self._block_open = False
                self._before = (len(self._said), False)  # what a tool follows is said
                arguments = block.input if isinstance(block.input, dict) else {"value": block.input}
                self._interaction.tool_used(block.id, block.name, arguments)
            elif isinstance(block, ServerToolResultBlock):
                content = json.dumps(block.content, ensure_ascii=False)
                self._run.log.append(events.ToolResult(block.tool_use_id, content, is_error=False))

    def _record_results(self, message: Any) -> None:
        """Record the calls whose results a message has, those of helpers, too."""
        from claude_agent_sdk import ToolResultBlock

        for block in message.content if isinstance(message.content, list) else ():
            if isinstance(block, ToolResultBlock):
                self._interaction.records.reported(block.tool_use_id, is_error=bool(block.is_error))

    def _user(self, message: Any) -> None:
        from claude_agent_sdk import ToolResultBlock

        if isinstance(message.content, str):
            return
        for block in message.content:
            if isinstance(block, ToolResultBlock):
                report = report_of(message.tool_use_result)
                said = (result_text(block.content) if report is None else report), bool(block.is_error)
                if block.is_error and self._run.stopping:
                    said = STOPPED, True
                self._run.log.append(
                    events.ToolResult(block.tool_use_id, *self._interaction.result_of(block.tool_use_id, said))
                )

    def _begin_text(self) -> None:
        # Within one stretch without tools the app shows a single text: blocks are joined, not replaced.
        if self._block_open:
            self._say("\n\n")
        elif self._said:
            self._said.append("\n\n")
        if not self._block_open:
            self._stretch = len(self._said)
        self._block_open = True

    def _take_back(self) -> None:
        """Take back what was said of a message that broke off: the agent's program asks for it once more."""
        size, was_open = self._before
        if self._is_whole or len(self._said) == size:
            return
        del self._said[size:]
        self._block_open = was_open
        self._run.log.append(events.Text("".join(self._said[self._stretch :]) if was_open else ""))

    def _say(self, text: str) -> None:
        if text:
            self._said.append(text)
            self._run.log.append(events.TextDelta(text))

    def _note_tokens(self, usage: Any) -> None:
        counts = usage if isinstance(usage, dict) else {}
        self._tokens |= {name: counts[name] for name in _CONTEXT_TOKENS if isinstance(counts.get(name), int)}

    def _note_model(self, model: Any) -> None:
        if isinstance(model, str) and model and model != "<synthetic>" and model != self.model:
            self.model = model
            self._run.log.append(events.Model(model))
