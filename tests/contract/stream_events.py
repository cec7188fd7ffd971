"""Every event of `POST /api/chat`, as the app reads it."""

from typing import Annotated, Any, Literal, get_args

from pydantic import Discriminator

from parachute.chat.runs.events import EVENTS

from .dart import Camel, check

ErrorCode = Literal[
    "invalid_api_key",
    "invalid_credentials",
    "expired_token",
    "billing_error",
    "rate_limited",
    "service_error",
    "service_unavailable",
    "context_exceeded",
    "network_error",
    "mcp_connection_failed",
    "mcp_tool_error",
    "tool_execution_failed",
    "transcription_failed",
    "session_not_found",
    "session_unavailable",
    "unknown_error",
]
"""The codes that the app has words for; any other is shown as an unknown error."""


class SessionResume(Camel):
    """Resumption of the conversation."""

    method: str = "unknown"
    sdk_session_valid: bool = False
    sdk_resume_attempted: bool = False
    sdk_resume_failed: bool = False
    context_injected: bool = False
    messages_injected: int = 0
    tokens_estimate: int = 0
    previous_message_count: int = 0
    loaded_from_disk: bool | None = None
    cache_hit: bool | None = None


class SessionEvent(Camel):
    """The session of this stream; the id may be null in the first of two."""

    type: Literal["session"]
    session_id: str | None = None
    trust_level: str | None = None
    title: str | None = None
    session_resume: SessionResume | None = None


class PromptMetadata(Camel):
    """Parts of a prompt."""

    prompt_source: str = "default"
    prompt_source_path: str | None = None
    context_files: list[str] = []
    context_tokens: int = 0
    context_truncated: bool = False
    agent_name: str | None = None
    available_agents: list[str] = []
    available_skills: list[str] = []
    available_mcps: list[str] = []
    base_prompt_tokens: int = 0
    total_prompt_tokens: int = 0
    trust_mode: bool = True
    working_directory_claude_md: str | None = None


class PromptMetadataEvent(PromptMetadata):
    """Event with the parts of the prompt."""

    type: Literal["prompt_metadata"]


class UserMessageEvent(Camel):
    """The message that this stream answers, for readers that attach later."""

    type: Literal["user_message"]
    content: str


class InitEvent(Camel):
    """The agent is ready."""

    type: Literal["init"]


class ModelEvent(Camel):
    """The model that answers."""

    type: Literal["model"]
    model: str


class TextEvent(Camel):
    """The whole text of the current block so far."""

    type: Literal["text"]
    content: str


class ThinkingEvent(Camel):
    """One whole block of thinking."""

    type: Literal["thinking"]
    content: str


class Tool(Camel):
    """A tool call."""

    id: str = ""
    name: str = ""
    input: dict[str, Any] = {}
    result: str | None = None
    is_error: bool = False


class ToolUseEvent(Camel):
    """The agent calls a tool."""

    type: Literal["tool_use"]
    tool: Tool


class ToolResultEvent(Camel):
    """Answer of the tool, always as text."""

    type: Literal["tool_result"]
    tool_use_id: str
    content: str
    is_error: bool = False


class QuestionOption(Camel):
    """One answer to choose."""

    label: str
    description: str = ""


class Question(Camel):
    """One question to the user."""

    question: str
    header: str = ""
    options: list[QuestionOption] = []
    multi_select: bool = False


class UserQuestionEvent(Camel):
    """The agent asks the user."""

    type: Literal["user_question"]
    request_id: str
    session_id: str
    questions: list[Question]


class SessionUnavailableEvent(Camel):
    """The conversation cannot be resumed; the app offers ways on."""

    type: Literal["session_unavailable"]
    reason: str
    session_id: str | None = None
    has_markdown_history: bool = False
    message_count: int = 0
    message: str


class WarningEvent(Camel):
    """A note in the bubble."""

    type: Literal["warning"]
    title: str = "Warning"
    message: str = ""
    details: list[str] = []


class AbortedEvent(Camel):
    """The user stopped the run."""

    type: Literal["aborted"]
    message: str | None = None


class DoneEvent(Camel):
    """The run ended well."""

    type: Literal["done"]
    session_id: str | None = None
    title: str | None = None
    model: str | None = None
    duration_ms: int | None = None
    session_resume: SessionResume | None = None


class ErrorEvent(Camel):
    """The run failed, in words only."""

    type: Literal["error"]
    error: str


class ErrorAction(Camel):
    """A button below an error."""

    key: str
    label: str
    action: Literal["retry", "settings", "reauth", "dismiss", "new_session"]


class TypedErrorEvent(Camel):
    """The run failed, with a code and what to do."""

    type: Literal["typed_error"]
    code: ErrorCode
    title: str = "Error"
    message: str
    actions: list[ErrorAction] = []
    can_retry: bool = False
    retry_delay_ms: int | None = None
    original_error: str | None = None
    session_id: str | None = None


Event = Annotated[
    SessionEvent
    | PromptMetadataEvent
    | UserMessageEvent
    | InitEvent
    | ModelEvent
    | TextEvent
    | ThinkingEvent
    | ToolUseEvent
    | ToolResultEvent
    | UserQuestionEvent
    | SessionUnavailableEvent
    | WarningEvent
    | AbortedEvent
    | DoneEvent
    | ErrorEvent
    | TypedErrorEvent,
    Discriminator("type"),
]

KNOWN: dict[str, type[Camel]] = {
    get_args(model.model_fields["type"].annotation)[0]: model for model in get_args(get_args(Event)[0])
}
"""The models by the types that the app knows."""

TERMINAL = (DoneEvent, ErrorEvent, TypedErrorEvent, AbortedEvent)


def parse_event(payload: Any) -> Any:
    """Read one event by its type; one of ours that the app does not know is ignored, any other type fails."""
    if isinstance(payload, dict) and payload.get("type") in EVENTS.keys() - KNOWN.keys():
        return payload
    return check(Event, payload, name="The event")  # type: ignore[arg-type]


def check_stream(payloads: list[dict[str, Any]]) -> list[Any]:
    """Read a whole stream: every event fits, and exactly one terminal event stands at the end."""
    events = [parse_event(payload) for payload in payloads]
    ends = [index for index, event in enumerate(events) if isinstance(event, TERMINAL)]
    kinds = [payload["type"] for payload in payloads]
    assert ends == [len(events) - 1], f"one terminal event must end the stream, got {kinds}"
    return events
