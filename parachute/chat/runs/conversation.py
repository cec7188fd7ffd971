"""The agent's messages as the app's events."""

import json
from typing import Any

from parachute.chat.runs import events
from parachute.chat.runs.interaction import Interaction
from parachute.chat.runs.run import Run
from parachute.chat.sessions.messages import result_text

# The SDK is imported in functions: it takes a second of a small processor, which the start of the server has not.


_CONTEXT_TOKENS = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens", "output_tokens")


def context_tokens(usage: Any) -> int:
    """The part of the model's context that is full after a request, in tokens."""
    counts = usage if isinstance(usage, dict) else {}
    return sum(count for name in _CONTEXT_TOKENS if isinstance(count := counts.get(name), int))


class Conversation:
    """Writes the messages of one run into its log; `text` collects what the agent said to the person.

    `tokens` are those that the model has read and written last.
    """

    def __init__(self, run: Run, interaction: Interaction) -> None:
        self._run = run
        self._interaction = interaction
        self._streamed: set[str] = set()
        self._streaming: str | None = None
        self._said: list[str] = []
        self._block_open = False
        self.model: str | None = None
        self.tokens = 0
        self.initialized = False
        self.error: str | None = None

    @property
    def text(self) -> str:
        """All text so far."""
        return "".join(self._said).strip()

    def take(self, message: Any) -> None:
        """Add a message other than the result."""
        from claude_agent_sdk import AssistantMessage, StreamEvent, SystemMessage, UserMessage

        if getattr(message, "parent_tool_use_id", None):
            return  # a helper of the agent talks to the agent, not to the person
        if isinstance(message, StreamEvent):
            self._stream(message.event)
        elif isinstance(message, AssistantMessage):
            self._assistant(message)
        elif isinstance(message, UserMessage):
            self._user(message)
        elif isinstance(message, SystemMessage) and message.subtype == "init" and not self.initialized:
            self.initialized = True
            self._run.log.append(events.Init(message.data.get("tools", [])))

    def _stream(self, event: dict[str, Any]) -> None:
        kind = event.get("type")
        if kind == "message_start":
            self._streaming = str(event["message"].get("id"))
            self._note_model(event["message"].get("model"))
            self.tokens = context_tokens(event["message"].get("usage"))
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
                arguments = block.input if isinstance(block.input, dict) else {"value": block.input}
                self._run.log.append(events.ToolUse(events.Tool(block.id, block.name, arguments)))
                self._interaction.tool_shown(block.id)
            elif isinstance(block, ServerToolResultBlock):
                content = json.dumps(block.content, ensure_ascii=False)
                self._run.log.append(events.ToolResult(block.tool_use_id, content, is_error=False))

    def _user(self, message: Any) -> None:
        from claude_agent_sdk import ToolResultBlock

        if isinstance(message.content, str):
            return
        for block in message.content:
            if isinstance(block, ToolResultBlock):
                answered = self._interaction.answers.get(block.tool_use_id)
                content = answered if answered is not None else result_text(block.content)
                self._run.log.append(events.ToolResult(block.tool_use_id, content, bool(block.is_error)))

    def _begin_text(self) -> None:
        # Within one stretch without tools the app shows a single text: blocks are joined, not replaced.
        if self._block_open:
            self._say("\n\n")
        elif self._said:
            self._said.append("\n\n")
        self._block_open = True

    def _say(self, text: str) -> None:
        if text:
            self._said.append(text)
            self._run.log.append(events.TextDelta(text))

    def _note_model(self, model: Any) -> None:
        if isinstance(model, str) and model and model != "<synthetic>" and model != self.model:
            self.model = model
            self._run.log.append(events.Model(model))
