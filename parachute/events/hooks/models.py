"""Hooks, their results, and what the events of the computer itself mean to them."""

from typing import Any

from msgspec import Struct, field

from parachute.base.answers import Answer
from parachute.base.errors import ParachuteError
from parachute.events.bus.catalogue import ALL

BLOCKABLE = frozenset(event.name for event in ALL if event.is_blockable)
"""Events whose hooks are asked before it happens, so that one can prevent it."""

SCRIPTS = {event.script: event.name for event in ALL}
"""Events by the names of their scripts; any other `on-a-b` is for the event `a.b`."""

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
