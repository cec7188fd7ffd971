"""The events that hooks and modules can rely on: one table of those of the computer itself and of the official modules."""

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

SESSION_START = "session.start"
SESSION_MESSAGE = "session.message"
SESSION_END = "session.end"
CONTEXT_LIMIT = "context.limit.approaching"
CONTEXT_REVIEW = "context.review"
SUGGESTION_CREATED = "suggestion.created"
SUGGESTION_RESOLVED = "suggestion.resolved"


class OwnEvent(Struct, frozen=True):
    """An event of the computer itself: `meaning` is for documentation, and `example` is data to try a hook with.

    `script` is the name of the scripts that are hooks for it. `module` is what hooks are told where its data names none,
    and `topic` that of the feed which it changes: None for what a module publishes, which changes the module's data. A hook
    can prevent one that `is_blockable`: it is asked before it happens.
    """

    name: str
    meaning: str
    example: dict[str, Any]
    script: str
    module: str
    topic: str | None
    is_blockable: bool = False


_SUGGESTION: dict[str, Any] = {
    "id": "example",
    "source_agent": "daily/reflection",
    "source_session": None,
    "action": "create",
    "target_module": "brain",
    "target_id": None,
    "status": "pending",
    "resolved_by": None,
}

ALL = (
    OwnEvent(
        SESSION_START,
        "A conversation, or the session of a module's agent, is about to begin.",
        {"session_id": "example", "module": "chat", "working_directory": None, "trust_level": "sandboxed"},
        "on-session-start",
        module="chat",
        topic="sessions",
        is_blockable=True,
    ),
    OwnEvent(
        SESSION_MESSAGE,
        "A message in a person's conversation was answered.",
        {"session_id": "example", "message_count": 4},
        "on-session-message",
        module="chat",
        topic="sessions",
    ),
    OwnEvent(
        SESSION_END,
        "A conversation was ended, archived or deleted, or nothing was said in a session for `session_idle_minutes`; "
        "again after it went on. `duration` is in seconds.",
        {
            "session_id": "example",
            "message_count": 12,
            "started_at": "2026-01-31T09:00:00.000Z",
            "ended_at": "2026-01-31T09:24:00.000Z",
            "duration": 1440,
        },
        "on-session-end",
        module="chat",
        topic="sessions",
    ),
    OwnEvent(
        "daily.entry.created",
        "The module `daily` has a new journal entry.",
        {
            "entry_id": "2026-01-31-morning",
            "entry_path": "Daily/journals/2026-01-31.md",
            "content": "An example.",
            "audio_path": None,
        },
        "on-daily-entry",
        module="daily",
        topic=None,
    ),
    OwnEvent(
        CONTEXT_LIMIT,
        "A conversation fills the share `threshold` of what the model can hold, or is about to be cut: `compaction` is null, "
        "`auto` or `manual`.",
        {"session_id": "example", "token_count": 160_000, "threshold": 0.8, "compaction": None},
        "on-context-limit",
        module="chat",
        topic="sessions",
    ),
    OwnEvent(
        CONTEXT_REVIEW,
        "A context that others watch has changed, and these are about to be reviewed by the curator; `because` are the files "
        "to whose changes it goes back.",
        {"path": "Projects/boat/AGENTS.md", "watchers": ["AGENTS.md"], "because": []},
        "on-context-review",
        module="chat",
        topic="sessions",
        is_blockable=True,
    ),
    OwnEvent(
        "brain.mention.detected",
        "The module `brain` has found an entity mentioned in a text.",
        {"source_id": "example", "para_id": "para:brain:example00000", "confidence": 0.9},
        "on-project-mention",
        module="brain",
        topic=None,
    ),
    OwnEvent(
        SUGGESTION_CREATED,
        "A suggestion waits for a decision; again when a decision was taken back.",
        _SUGGESTION,
        "on-suggestion-created",
        module="suggestion",
        topic="suggestions",
    ),
    OwnEvent(
        SUGGESTION_RESOLVED,
        "A suggestion was decided about: `status` says how, and `resolved_by` by whom.",
        {**_SUGGESTION, "status": "approved", "resolved_by": "user"},
        "on-suggestion-resolved",
        module="suggestion",
        topic="suggestions",
    ),
)

BY_NAME: Mapping[str, OwnEvent] = {event.name: event for event in ALL}
