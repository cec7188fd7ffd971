"""Hooks, their results, and the events of the computer itself."""

from typing import Any

from msgspec import Struct, field

from parachute.base.answers import Answer
from parachute.base.errors import ParachuteError

EVENTS: dict[str, dict[str, Any]] = {
    "session.start": {
        "session_id": "example",
        "module": "chat",
        "working_directory": None,
        "trust_level": "sandboxed",
    },
    "session.message": {"session_id": "example", "message_count": 4},
    "session.end": {
        "session_id": "example",
        "message_count": 12,
        "started_at": "2026-01-31T09:00:00.000Z",
        "ended_at": "2026-01-31T09:24:00.000Z",
        "duration": 1440,
    },
    "daily.entry.created": {
        "entry_id": "2026-01-31-morning",
        "entry_path": "Daily/journals/2026-01-31.md",
        "content": "An example.",
        "audio_path": None,
    },
    "context.limit.approaching": {
        "session_id": "example",
        "token_count": 160_000,
        "threshold": 0.8,
        "compaction": None,
    },
    "context.review": {
        "path": "Projects/boat/AGENTS.md",
        "watchers": ["AGENTS.md"],
        "because": [],
    },
    "brain.mention.detected": {"source_id": "example", "para_id": "para:brain:example00000", "confidence": 0.9},
}
"""The events of the computer itself, each with data to try a hook with; modules publish further ones."""

MEANINGS: dict[str, str] = {
    "session.start": "A conversation, or the session of a module's agent, is about to begin.",
    "session.message": "A message in a person's conversation was answered.",
    "session.end": "A conversation was ended, archived or deleted, or nothing was said in a session for "
    "`session_idle_minutes`; again after it went on. `duration` is in seconds.",
    "daily.entry.created": "The module `daily` has a new journal entry.",
    "context.limit.approaching": "A conversation fills the share `threshold` of what the model can hold, or is about to be "
    "cut: `compaction` is null, `auto` or `manual`.",
    "context.review": "A context that others watch has changed, and these are about to be reviewed by the curator; `because` are "
    "the files to whose changes it goes back.",
    "brain.mention.detected": "The module `brain` has found an entity mentioned in a text.",
}
"""The meanings of these events."""

BLOCKABLE = frozenset(("session.start", "context.review"))
"""Events whose hooks are asked before it happens, so that one can prevent it."""

SCRIPTS = {
    "on-session-start": "session.start",
    "on-session-message": "session.message",
    "on-session-end": "session.end",
    "on-daily-entry": "daily.entry.created",
    "on-context-limit": "context.limit.approaching",
    "on-context-review": "context.review",
    "on-project-mention": "brain.mention.detected",
}
"""Names of scripts that do not spell their event out; any other `on-a-b` is for the event `a.b`."""

DEFAULTS = ("activity_summary", "curator", "flush_memory", "load_context", "summarise")
"""Hooks that come with the computer, each a file in `defaults`."""

ALIAS = "parachute.hooks."
"""The prefix in `hooks.yaml` of modules of this package (`parachute.aliases`)."""

BUILT_IN = frozenset((*(f"parachute.hooks.defaults.{name}" for name in DEFAULTS), "parachute.hooks.activity_summary"))
"""Modules of this package that are hooks: they came with it, and need no approval of their own."""

MAKE_MEMORY = frozenset(f"parachute.hooks.defaults.{name}" for name in ("flush_memory", "summarise"))
"""Built-in hooks that ask the model, and so do nothing where there is none for it."""

WITHOUT_PROCESS = frozenset(f"parachute.hooks.defaults.{name}" for name in ("curator", "load_context"))
"""Built-in hooks that core calls itself, by their function `answer`: a process would delay every new conversation, and each saved file."""

DEFAULT_SECONDS = 30.0
MOST_SECONDS = 600.0


class Hook(Struct, frozen=True):
    """One command for one event or `prefix.*`; `source` says where it is written."""

    name: str
    event: str
    command: str
    source: str
    timeout: float = DEFAULT_SECONDS
    is_async: bool = False
    description: str | None = None


class Ran(Struct, frozen=True):
    """The result of a command; `exit_code` is None when it was ended because its time was over."""

    exit_code: int | None
    stdout: str
    stderr: str
    duration_ms: int
    is_cut: bool = False
    """True if it wrote more than is kept."""


class HookFailure(Answer, frozen=True):
    """A failure of a hook."""

    hook: str
    event: str
    message: str
    timestamp: str


class Added(Struct, frozen=True):
    """A text for the agent and a notice for the person, from a hook."""

    hook: str
    text: str
    notice: str = ""


class HookOutcome(Struct, frozen=True):
    """The result of the hooks of an event; `blocked`: the event must not happen, for `reason`.

    `outputs` are their answers, `added` what of these is for the agent.
    """

    blocked: bool = False
    reason: str | None = None
    outputs: list[dict[str, Any]] = field(default_factory=list)
    added: tuple[Added, ...] = ()


class Memory(Struct, frozen=True):
    """The hooks that make notes of conversations, and the reason why no model does it for them."""

    hooks: tuple[str, ...]
    reason: str | None

    @property
    def is_on(self) -> bool:
        """True if notes are made."""
        return bool(self.hooks) and self.reason is None


class ShownMemory(Answer, frozen=True):
    """The hooks that make notes of conversations, whether they do, and the reason why not."""

    is_on: bool = field(name="on")
    hooks: tuple[str, ...]
    reason: str | None


class ShownHook(Answer, frozen=True):
    """A hook with all its events; `off` is the reason why one that could run does nothing."""

    name: str
    events: list[str]
    blocking: bool
    description: str | None
    command: str | None
    source: str
    timeout: float
    approved: bool
    problem: str | None
    off: str | None


class CannotRun(ParachuteError):
    """A command that cannot be run as it is written, or of which it cannot be known what it would run."""

    status = 422
