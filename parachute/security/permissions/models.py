"""The words in which permissions are asked for and decided."""

from enum import Enum, StrEnum

from msgspec import Struct


class Effect(StrEnum):
    """The outcome of a request."""

    ALLOW = "allow"
    DENY = "deny"
    ASK = "ask"


class Decision(Struct, frozen=True):
    """The answer to one request: the effect, a sentence for the person and the agent, and the rule that decided."""

    effect: Effect
    reason: str
    rule: str


def allow(reason: str, rule: str) -> Decision:
    """Return a decision that allows."""
    return Decision(Effect.ALLOW, reason, rule)


def deny(reason: str, rule: str) -> Decision:
    """Return a decision that refuses."""
    return Decision(Effect.DENY, reason, rule)


class Access(StrEnum):
    """The access that an action needs and a grant opens: `write` includes `read`; `run` is for commands."""

    READ = "read"
    WRITE = "write"
    RUN = "run"


class Resource(Enum):
    """The kind of thing that an action works on; `NONE` needs no grant."""

    PATH = "path"
    COMMAND = "command"
    NONE = "none"
