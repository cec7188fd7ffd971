"""A setting as devices see it."""

from typing import Any, Literal

from pydantic import BaseModel

from parachute.config.settings.expectations import Kind

Source = Literal["default", "file", "declared", "environment"]
Restart = Literal["server", "computer"]
Caution = Literal["reach", "rights"]


class Setting(BaseModel):
    """A setting in force, and what it may be; `title` and `topic` are for people, `unit` what its number counts (`time`: a time of the day).

    `expects` says so in words; `variable` of the environment holds it where `source` says so. `restart` is what has to start anew
    until it takes effect, null where it holds already. `caution` says that a change may lock you out, or gives somebody more rights.
    """

    name: str
    title: str
    topic: str
    unit: str | None
    kind: Kind
    value: Any
    default: Any
    description: str
    expects: str
    allowed: list[str]
    may_be_empty: bool
    source: Source
    variable: str | None
    can_change: bool
    is_masked: bool
    restart: Restart | None
    caution: Caution | None


class ShownTopic(BaseModel):
    """A topic of settings."""

    key: str
    title: str


class AllSettings(BaseModel):
    """Every setting, in the order of docs/settings.md, and the topics in theirs."""

    topics: list[ShownTopic]
    settings: list[Setting]


REACH = frozenset({"host", "port", "auth_mode", "hostnames", "origins", "trusted_proxies", "vault"})
"""Settings by which a computer may get out of its owner's reach."""

RIGHTS = frozenset(
    {
        # Who gets to hear what is said.
        "voice.server",
        "voice.key_file",
        "allowed_models",
        "capabilities.read_home",
        "changes.apply",
        "default_capabilities.agents",
        "default_capabilities.mcps",
        "default_capabilities.plugins",
        "default_capabilities.skills",
        "network.hosts",
        "network.mode",
        "network.presets",
        "orchestrator.resolves",
        "project_folders",
        "sandbox.hosts",
        "sandbox.limits",
        "sandbox.packages",
        "sandbox.required",
        "sandbox.without",
        "suggestions.from_chats",
        "trust_mode",
    }
)
"""Settings that decide what agents may do."""


def caution_of(name: str) -> Caution | None:
    """Return the caution that a change of a setting needs."""
    whole = name if name in RIGHTS else name.rpartition(".")[0]
    return "reach" if name in REACH else "rights" if whole in RIGHTS else None
