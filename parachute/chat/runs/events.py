"""The events of a chat, a class for each (contract, section 3): their JSON, docs/api.md, the tests and all readers follow.

The command line reads with these classes, too: they need nothing that is slow to import.
"""

from collections.abc import Mapping
from functools import cache
from types import NoneType
from typing import Any, ClassVar, get_args, get_origin

from msgspec import Struct, ValidationError, convert, field, to_builtins
from msgspec.structs import fields


class Event(Struct, frozen=True, rename="camel"):
    """Something that a run says; `is_terminal` ends it."""

    type: ClassVar[str]
    is_terminal: ClassVar[bool] = False

    def to_json(self) -> dict[str, Any]:
        """Return what is stored and sent; a member that may be left out is while it is None."""
        document = to_builtins(self, enc_hook=str)
        return {
            "type": self.type,
            **{n: each for n, each in document.items() if each is not None or n not in optional(type(self))},
        }


@cache
def optional(kind: type[Event]) -> frozenset[str]:
    """Return the names of the members that may be left out: those of which None is the default."""
    return frozenset(field.encode_name for field in fields(kind) if field.default is None)


class SessionResume(Struct, frozen=True, rename="camel"):
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


class Session(Event, frozen=True):
    """The session of this stream; a second one adds `sessionResume`: how the history came in."""

    type = "session"
    session_id: str
    trust_level: str
    title: str | None
    session_resume: SessionResume | None = None


class UserMessage(Event, frozen=True):
    """A message of the person, also one that was injected."""

    type = "user_message"
    content: str
    id: str


class PromptMetadata(Event, frozen=True):
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


class Init(Event, frozen=True):
    """The agent is ready."""

    type = "init"
    tools: list[str]


class Model(Event, frozen=True):
    """The model that answers."""

    type = "model"
    model: str


class TextDelta(Event, frozen=True):
    """With `?text=delta` in place of `text`: what came since the last one."""

    type = "text_delta"
    text: str


class Text(Event, frozen=True):
    """The text since the last tool call; it is cumulative and replaces the one before."""

    type = "text"
    content: str


class Thinking(Event, frozen=True):
    """A block of the model's thoughts."""

    type = "thinking"
    content: str


class Tool(Struct, frozen=True, rename="camel"):
    """A tool with what it is called with."""

    id: str
    name: str
    input: dict[str, Any]
    is_error: bool = False


class ToolUse(Event, frozen=True):
    """The agent calls a tool: `id`, `name` and `input`."""

    type = "tool_use"
    tool: Tool


class ToolProgress(Event, frozen=True):
    """A call of an MCP server's tool says how far it is, once a second at most."""

    type = "tool_progress"
    tool_use_id: str
    message: str


class ToolResult(Event, frozen=True):
    """The result of a tool call."""

    type = "tool_result"
    tool_use_id: str
    content: str
    is_error: bool


class UserQuestion(Event, frozen=True):
    """The agent asks; answer with `POST …/answer` within five minutes."""

    type = "user_question"
    request_id: str
    session_id: str
    questions: list[dict[str, Any]]


class PermissionRequest(Event, frozen=True):
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


class PermissionDenied(Event, frozen=True):
    """A tool call was refused."""

    type = "permission_denied"
    tool_name: str
    reason: str


class RunWarning(Event, frozen=True):
    """Something to know; the run goes on. `key` names what is shown in another form as well, such as `changes_wait`."""

    type = "warning"
    title: str
    message: str
    details: list[str] = field(default_factory=list)
    key: str | None = None


class SessionUnavailable(Event, frozen=True):
    """The transcript is gone; sending the message again goes on with what is known of it."""

    type = "session_unavailable"
    reason: str
    session_id: str
    has_markdown_history: bool
    message_count: int
    message: str


class TurnDone(Event, frozen=True):
    """The answer is complete."""

    type = "done"
    is_terminal = True
    session_id: str
    title: str | None
    model: str | None
    duration_ms: int
    session_resume: SessionResume | None = None


class Aborted(Event, frozen=True):
    """Stopped, also with [all others](security.md#stopping-everything), or interrupted by a restart; `partialText` is the last text of the answer until then."""

    type = "aborted"
    is_terminal = True
    message: str
    partial_text: str | None = None


class TypedError(Event, frozen=True):
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


class InternalError(Event, frozen=True):
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
    """The event that was stored or sent; None for one that this version does not know. What another version leaves out is empty."""
    kind = EVENTS.get(str(document.get("type")))
    try:
        return convert({**_empty(kind), **document}, kind) if kind else None
    except ValidationError:
        return None


@cache
def _empty(kind: type[Struct]) -> dict[str, Any]:
    """The empty value of each member that has to be there."""
    return {field.encode_name: _value(field.type) for field in fields(kind) if field.required}


def _value(kind: Any) -> Any:
    if NoneType in get_args(kind):
        return None
    plain = get_origin(kind) or kind
    return _empty(plain) if issubclass(plain, Struct) else plain()
