"""The events of a chat, a class for each (contract, section 3): their JSON, docs/api.md, the tests and all readers follow.

The command line reads with these classes, too: they need nothing that is slow to import.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from parachute.base.json_shape import JsonShape


class Event(JsonShape):
    """Something that a run says; `is_terminal` ends it."""

    __slots__ = ()

    type: ClassVar[str]
    is_terminal: ClassVar[bool] = False

    def to_json(self) -> dict[str, Any]:
        """Return what is stored and sent."""
        return {"type": self.type, **super().to_json()}


@dataclass(frozen=True, slots=True)
class SessionResume(JsonShape):
    """The way of the earlier conversation into a turn; `messages_injected` texts went before its message."""

    method: str
    sdk_session_valid: bool
    sdk_resume_attempted: bool
    sdk_resume_failed: bool
    context_injected: bool
    messages_injected: int
    tokens_estimate: int
    previous_message_count: int
    loaded_from_disk: bool
    cache_hit: bool


@dataclass(frozen=True, slots=True)
class Session(Event):
    """The session of this stream; a second one adds `sessionResume`: how the history came in."""

    type = "session"
    session_id: str
    trust_level: str
    title: str | None
    session_resume: SessionResume | None = None


@dataclass(frozen=True, slots=True)
class UserMessage(Event):
    """A message of the person, also one that was injected."""

    type = "user_message"
    content: str
    id: str


@dataclass(frozen=True, slots=True)
class PromptMetadata(Event):
    """The source of the system prompt (`custom`, `agent`, `module` or `default`), with token counts; what Brain and the journal know of the message is in `known…`."""

    type = "prompt_metadata"
    prompt_source: str
    prompt_source_path: str | None
    context_files: list[str]
    context_tokens: int
    context_truncated: bool
    agent_name: str | None
    available_agents: list[str]
    available_skills: list[str]
    available_mcps: list[str]
    base_prompt_tokens: int
    total_prompt_tokens: int
    trust_mode: bool
    working_directory_claude_md: str | None
    known_names: list[str]
    known_entries: int


@dataclass(frozen=True, slots=True)
class Init(Event):
    """The agent is ready."""

    type = "init"
    tools: list[str]


@dataclass(frozen=True, slots=True)
class Model(Event):
    """The model that answers."""

    type = "model"
    model: str


@dataclass(frozen=True, slots=True)
class TextDelta(Event):
    """With `?text=delta` in place of `text`: what came since the last one."""

    type = "text_delta"
    text: str


@dataclass(frozen=True, slots=True)
class Text(Event):
    """The text since the last tool call; it is cumulative and replaces the one before."""

    type = "text"
    content: str


@dataclass(frozen=True, slots=True)
class Thinking(Event):
    """A block of the model's thoughts."""

    type = "thinking"
    content: str


@dataclass(frozen=True, slots=True)
class Tool(JsonShape):
    """A tool with what it is called with."""

    id: str
    name: str
    input: dict[str, Any]
    is_error: bool = False


@dataclass(frozen=True, slots=True)
class ToolUse(Event):
    """The agent calls a tool: `id`, `name` and `input`."""

    type = "tool_use"
    tool: Tool


@dataclass(frozen=True, slots=True)
class ToolResult(Event):
    """The result of a tool call."""

    type = "tool_result"
    tool_use_id: str
    content: str
    is_error: bool


@dataclass(frozen=True, slots=True)
class UserQuestion(Event):
    """The agent asks; answer with `POST …/answer` within five minutes."""

    type = "user_question"
    request_id: str
    session_id: str
    questions: list[dict[str, Any]]


@dataclass(frozen=True, slots=True)
class PermissionRequest(Event):
    """A direct session asks for a tool, only with `canAnswerPermissions: true`; answer within two minutes.

    One of `suggestedGrants` (`Bash(git:*)`, `Read(/Daily/**)`) goes with the answer if it is to count for the conversation.
    """

    type = "permission_request"
    request_id: str
    session_id: str
    tool_name: str
    input: dict[str, Any]
    reason: str
    suggested_grants: list[str]


@dataclass(frozen=True, slots=True)
class PermissionDenied(Event):
    """A tool call was refused."""

    type = "permission_denied"
    tool_name: str
    reason: str


@dataclass(frozen=True, slots=True)
class RunWarning(Event):
    """Something to know; the run goes on."""

    type = "warning"
    title: str
    message: str
    details: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class SessionUnavailable(Event):
    """The transcript is gone; sending the message again goes on with what is known of it."""

    type = "session_unavailable"
    reason: str
    session_id: str
    has_markdown_history: bool
    message_count: int
    message: str


@dataclass(frozen=True, slots=True)
class Done(Event):
    """The answer is complete."""

    type = "done"
    is_terminal = True
    session_id: str
    title: str | None
    model: str | None
    duration_ms: int
    session_resume: SessionResume | None = None


@dataclass(frozen=True, slots=True)
class Aborted(Event):
    """Stopped, also with [all others](security.md#stopping-everything), or interrupted by a restart; `partialText` is the last text of the answer until then."""

    type = "aborted"
    is_terminal = True
    message: str
    partial_text: str | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class TypedError(Event):
    """Failed, with a `code` from the table below; `key` is that of an error of the computer itself."""

    type = "typed_error"
    is_terminal = True
    code: str
    title: str
    message: str
    actions: list[dict[str, str]]
    can_retry: bool
    retry_delay_ms: int | None
    original_error: str | None
    session_id: str
    key: str | None = None


@dataclass(frozen=True, slots=True)
class InternalError(Event):
    """Something went wrong in the computer itself."""

    type = "error"
    is_terminal = True
    error: str


EVENTS: dict[str, type[Event]] = {
    kind.type: kind
    for kind in list(globals().values())
    if isinstance(kind, type) and issubclass(kind, Event) and kind is not Event
}

ABORTED = Aborted("Stopped.")
INTERRUPTED = Aborted("The computer was restarted during this answer; send a message to go on.")
PANIC = Aborted("All agents were stopped; `parachute resume` lets them work again, and then a message goes on here.")


def read(document: Mapping[str, Any]) -> Event | None:
    """The event that was stored or sent; None for a type that this version does not know."""
    kind = EVENTS.get(str(document.get("type")))
    return kind.from_json(document) if kind else None
