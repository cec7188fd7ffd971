"""A workspace in its stored form and in the app's (contract, section 4)."""

import re
import unicodedata
from collections.abc import Collection, Iterable, Sequence
from typing import Any, Literal

from msgspec import Struct, to_builtins

from parachute.config.settings.groups.agents import Apply
from parachute.modules.runtime.models import OfferedTool
from parachute.sandbox.egress.models import Network
from parachute.sandbox.engines.limits import NO_LIMITS, Limits
from parachute.sandbox.git.models import Grant
from parachute.security.permissions.actions import MODULE_SERVER
from parachute.security.trust_levels import TrustLevel

Choice = Literal["all", "none"] | tuple[str, ...]
"""Everything, nothing, or what is named."""

KINDS = ("mcps", "skills", "agents", "plugins")

_SLUG = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
_SLUG_LIMIT = 40  # it is a part of the names of files, units and containers


class Capabilities(Struct, frozen=True):
    """The capabilities that conversations of a workspace get.

    `mcps` names tools, modules, or `parachute` for the tools of all modules; `agents` the names or file names of the
    vault's agents.
    """

    mcps: Choice = "all"
    skills: Choice = "all"
    agents: Choice = "all"
    plugins: Choice = "all"

    def tools(self, offered: Iterable[OfferedTool]) -> tuple[OfferedTool, ...]:
        """Those of the tools of modules that are left."""
        return tuple(tool for tool in offered if allowed(self.mcps, (MODULE_SERVER, tool.module, tool.name)))

    def as_json(self) -> dict[str, Any]:
        """The app's form: for each kind `all`, `none` or a list."""
        return {kind: choice if isinstance(choice, str) else list(choice) for kind, choice in to_builtins(self).items()}


EVERYTHING = Capabilities()
EVERY_HOST_ASKS = Network()


class Workspace(Struct, frozen=True):
    """A workspace; times are ISO 8601 in UTC, `working_directory` is relative to the vault when inside it.

    No session in it is less shut in than `default_trust_level`. `slug` never changes. Without `apply` the setting holds. One that is `declared` is what the
    system's configuration says, and nobody changes it here.
    """

    slug: str
    name: str
    created_at: str
    updated_at: str
    description: str = ""
    default_trust_level: TrustLevel = "sandboxed"
    working_directory: str | None = None
    model: str | None = None
    capabilities: Capabilities = EVERYTHING
    limits: Limits = NO_LIMITS
    network: Network = EVERY_HOST_ASKS
    git: tuple[Grant, ...] = ()
    apply: Apply | None = None
    declared: bool = False

    def as_json(self) -> dict[str, Any]:
        """The app's form, with our own additions: limits, times and whether it is declared."""
        return {
            "name": self.name,
            "slug": self.slug,
            "description": self.description,
            "default_trust_level": self.default_trust_level,
            "working_directory": self.working_directory,
            "model": self.model,
            "capabilities": self.capabilities.as_json(),
            "memory_megabytes": self.limits.memory_megabytes,
            "cpus": self.limits.cpus,
            "processes": self.limits.processes,
            "network": {"mode": self.network.mode, "hosts": list(self.network.hosts)},
            "git": [grant.as_json() for grant in self.git],
            "apply": self.apply,
            "created_at": self.created_at,
            "updated_at": self.updated_at,
            "declared": self.declared,
        }


def allowed(choice: Choice, names: Collection[str]) -> bool:
    """Return True if a choice names a thing by one of its names."""
    if isinstance(choice, str):
        return choice == "all"
    return any(name in choice for name in names)


def choice_of(value: str | Sequence[str]) -> Choice:
    """The choice that a text or a list of names says; nothing, for a word that is neither `all` nor `none`."""
    if isinstance(value, str):
        return "all" if value == "all" else "none"
    return tuple(dict.fromkeys(value))


def is_slug(text: str) -> bool:
    """Return True if a text can be the slug of a workspace."""
    return len(text) <= _SLUG_LIMIT and _SLUG.fullmatch(text) is not None


def slug_of(name: str, taken: Collection[str]) -> str:
    """A slug for a new workspace that is none of those taken: a-z, 0-9 and single dashes, at most 40 characters."""
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
    wanted = _cut(re.sub(r"[^a-z0-9]+", "-", plain), _SLUG_LIMIT) or "workspace"
    slug, number = wanted, 1
    while slug in taken:
        number += 1
        slug = f"{_cut(wanted, _SLUG_LIMIT - len(str(number)) - 1)}-{number}"
    return slug


def _cut(text: str, length: int) -> str:
    return text.strip("-")[:length].strip("-")
