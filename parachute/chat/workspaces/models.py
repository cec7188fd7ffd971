"""A workspace in its stored form and in the app's (contract, section 4)."""

import re
import unicodedata
from collections.abc import Collection, Iterable, Sequence
from typing import Literal

from parachute.base.answers import Answer
from parachute.config.settings.groups.agents import Apply
from parachute.modules.runtime.models import OfferedTool
from parachute.sandbox.egress.models import Network
from parachute.sandbox.engines.limits import Limits
from parachute.sandbox.git.models import Grant
from parachute.security.permissions.actions import MODULE_SERVER
from parachute.security.trust_levels import TrustLevel

Choice = Literal["all", "none"] | tuple[str, ...]
"""Everything, nothing, or what is named."""

KINDS = ("mcps", "skills", "agents", "plugins")

_SLUG = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
_SLUG_LIMIT = 40  # it is a part of the names of files, units and containers


class Capabilities(Answer, frozen=True):
    """The capabilities that conversations of a workspace get.

    `mcps` names tools, modules, or `parachute` for the tools of all modules; `agents` the names or file names of the
    vault's agents.
    """

    mcps: Choice
    skills: Choice
    agents: Choice
    plugins: Choice

    def tools(self, offered: Iterable[OfferedTool]) -> tuple[OfferedTool, ...]:
        """Choose the tools of modules that are left."""
        return tuple(tool for tool in offered if allowed(self.mcps, (MODULE_SERVER, tool.module, tool.name)))


EVERYTHING = Capabilities("all", "all", "all", "all")
EVERY_HOST_ASKS = Network("ask", ())


class Workspace(Answer, frozen=True):
    """A workspace, as it is stored and as the app reads it (contract, section 4); times are ISO 8601 in UTC, `working_directory` is relative to the vault when inside it.

    No session in it is less shut in than `default_trust_level`. `slug` never changes. Without `apply` the setting holds. What is `only_at_home` is sent to no model elsewhere. One that is `declared` is what the
    system's configuration says, and nobody changes it here.
    """

    slug: str
    name: str
    created_at: str
    updated_at: str
    capabilities: Capabilities
    description: str = ""
    default_trust_level: TrustLevel = "sandboxed"
    working_directory: str | None = None
    model: str | None = None
    only_at_home: bool = False
    memory_megabytes: int | None = None
    cpus: float | None = None
    processes: int | None = None
    network: Network = EVERY_HOST_ASKS
    git: tuple[Grant, ...] = ()
    apply: Apply | None = None
    declared: bool = False

    @property
    def limits(self) -> Limits:
        """Limits of the sandboxes of its conversations."""
        return Limits(self.memory_megabytes, self.cpus, self.processes)


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
