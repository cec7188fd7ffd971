"""Limits of a module's agent by the owner: folders, tools, the network. A limit never gives anything."""

import dataclasses
from collections.abc import Mapping
from typing import Literal

from msgspec.structs import force_setattr, replace

from parachute.base.answers import Answer
from parachute.base.document_values import Value
from parachute.base.errors import InvalidInput, NotFound
from parachute.core.agents import WORKING_DIRECTORY, AgentConfig, SandboxConfig, capability
from parachute.core.patterns import Pattern
from parachute.modules.manifest.consents import AgentConsent
from parachute.modules.manifest.models import Manifest

_WRITING = frozenset({"Write", "Edit", "NotebookEdit", "Bash"})
_MOST = 100


class AgentLimit(Answer, frozen=True):
    """The limit of one agent: only these paths and tools, where they are given, and no network."""

    paths: tuple[str, ...] | None = None
    capabilities: tuple[str, ...] | None = None
    network: Literal["none"] | None = None

    def __post_init__(self) -> None:
        """Every value checked; error: InvalidInput."""
        for listed in (self.paths, self.capabilities):
            if listed is not None and len(listed) > _MOST:
                raise InvalidInput(f"At most {_MOST} paths and tools are allowed.", key="too_many_limits")
        # It has the rules for paths of agents.
        SandboxConfig(allowed_paths=self.paths or ())
        if self.capabilities is not None:
            force_setattr(self, "capabilities", tuple(map(capability, self.capabilities)))

    def __bool__(self) -> bool:
        return self.paths is not None or self.capabilities is not None or self.network is not None


class LimitedAgent(Answer, frozen=True):
    """An agent of a module, what the owner has taken from it, and what it may do now."""

    name: str
    limit: AgentLimit | None
    allowed: AgentConsent


def read_limit(value: Value) -> AgentLimit:
    """Read one from `modules.yaml`."""
    fields = value.fields(("paths", "capabilities", "network"))

    def texts(listed: Value) -> tuple[str, ...]:
        return listed.each(lambda item: item.text(1_000))

    network = fields.read("network", lambda word: word.one_of(("none",)), "")
    paths, tools = fields.read("paths", texts, None), fields.read("capabilities", texts, None)
    return AgentLimit(paths, tools, "none" if network else None)


def check_limit(manifest: Manifest, agent: str, limit: AgentLimit) -> None:
    """Error: NotFound for an agent that there is not, InvalidInput if the agent does not have what the limit leaves to it."""
    config = manifest.agents.get(agent)
    if config is None:
        known = ", ".join(sorted(manifest.agents)) or "none"
        raise NotFound(
            f"The module {manifest.name} has no agent {agent[:40]!r}; there are: {known}.", key="no_such_agent"
        )
    for path in limit.paths or ():
        if config.sandbox is not None and not any(_covers(other, path) for other in config.sandbox.allowed_paths):
            allowed = ", ".join(config.sandbox.allowed_paths) or "none"
            raise InvalidInput(f"{path[:80]!r} is not among what {agent} may open ({allowed}).", key="wider")
    for tool in limit.capabilities or ():
        if tool not in config.capabilities and not (tool == "Bash" and config.bash):
            allowed = ", ".join(config.capabilities) or "none"
            raise InvalidInput(f"{tool} is not among the tools of {agent} ({allowed}).", key="wider")


def narrowed(manifest: Manifest, limits: Mapping[str, AgentLimit]) -> Manifest:
    """The manifest with its agents as far as the limits let them; whatever a limit names beyond them is left out."""
    if not limits:
        return manifest
    agents = {
        name: _narrowed(config, limits[name]) if name in limits else config for name, config in manifest.agents.items()
    }
    return replace(manifest, agents=agents)


def _narrowed(config: AgentConfig, limit: AgentLimit) -> AgentConfig:
    if not limit:
        return config
    if limit.capabilities is not None:
        listed = limit.capabilities
        config = dataclasses.replace(
            config,
            capabilities=tuple(name for name in config.capabilities if name in listed),
            bash=config.bash if "Bash" in listed else False,
        )
    # Without a sandbox nothing would hold the limit.
    unlimited = SandboxConfig("rw", limit.paths or (), network="bridge")
    sandbox = config.sandbox or unlimited
    if limit.paths is not None and config.sandbox is not None:
        sandbox = dataclasses.replace(sandbox, allowed_paths=_common(sandbox.allowed_paths, limit.paths))
    if limit.network == "none":
        sandbox = dataclasses.replace(sandbox, network="none")
    if sandbox.workspace_access == "rw" and not (_WRITING & set(config.capabilities) or config.bash):
        sandbox = dataclasses.replace(sandbox, workspace_access="ro")
    return dataclasses.replace(config, sandbox=sandbox)


def _common(allowed: tuple[str, ...], wanted: tuple[str, ...]) -> tuple[str, ...]:
    inner = [path for path in wanted if any(_covers(other, path) for other in allowed)]
    inner += [path for path in allowed if any(_covers(other, path) for other in wanted)]
    return tuple(dict.fromkeys(inner))


def _covers(outer: str, inner: str) -> bool:
    """True if everything behind one path lies behind the other as well."""
    if outer == inner:
        return True
    (outer_place, outer_path), (inner_place, inner_path) = _split(outer), _split(inner)
    if outer_place != inner_place:
        return False
    if not outer_path:
        return True
    if not inner_path:
        return False
    above, below = Pattern.parse(outer_path), Pattern.parse(inner_path)
    folder = above.parts[:-1] if above.parts[-1] == "**" else above.parts
    if not folder and below.parts[0].startswith("."):
        return False  # `**` does not reach what is hidden at the top of the vault
    return all("*" not in part and "?" not in part for part in folder) and below.literal[: len(folder)] == folder


def _split(path: str) -> tuple[str, str]:
    if path.startswith("~/"):
        return "~", path[2:]
    if path.startswith(WORKING_DIRECTORY):
        return WORKING_DIRECTORY, path[len(WORKING_DIRECTORY) :].strip("/")
    return "", path
