"""Agents of a module and their sandboxes, in both spellings that authors use."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any

from parachute.base.errors import InvalidInput
from parachute.core.patterns import Pattern

WORKSPACE_ACCESS = ("none", "ro", "rw")
CAPABILITIES = (
    *("Read", "Write", "Edit", "Bash", "Glob", "Grep", "WebFetch", "WebSearch", "NotebookEdit", "TodoWrite"),
    *("Task", "Skill", "AskUserQuestion", "Computer"),
)
WORKING_DIRECTORY = "${CWD}"
"""Stands for the folder that the user chose for a conversation."""

_CAPABILITIES = {name.lower(): name for name in CAPABILITIES}
_HOST = re.compile(r"(?:\*\.)?(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z](?:[a-z0-9-]{0,61}[a-z0-9])")
_MEMORY = re.compile(r"([1-9][0-9]{0,6})([kmg])", re.IGNORECASE)
_COMMAND = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]{0,63}")
_CAPABILITY_OF_KERNEL = re.compile(r"ALL|(?:CAP_)?[A-Z_]{3,40}")
_UNITS = {"k": 1 << 10, "m": 1 << 20, "g": 1 << 30}
_SMALLEST_MEMORY, _LARGEST_MEMORY = 16 << 20, 1 << 40


def memory_bytes(text: str, field: str = "memory") -> int:
    """`512m` and the like as bytes; error: InvalidInput."""
    match = _MEMORY.fullmatch(text) if isinstance(text, str) else None
    size = int(match[1]) * _UNITS[match[2].lower()] if match else 0
    if not _SMALLEST_MEMORY <= size <= _LARGEST_MEMORY:
        raise InvalidInput(f"{field}: write a size of at least 16m, such as 512m or 2g.", key="memory_invalid")
    return size


def host_name(text: object, field: str = "network") -> str:
    """A host that may be reached, exact or `*.` and a domain; error: InvalidInput for addresses and single words."""
    if not isinstance(text, str) or len(text) > 253 or not _HOST.fullmatch(text.lower()):
        raise InvalidInput(
            f"{field}: {str(text)[:60]!r} must be a host such as api.example.org or *.example.org.", key="host_invalid"
        )
    if text.startswith("*.") and text.count(".") < 2:
        raise InvalidInput(f"{field}: {text!r} would be every host of a whole top-level domain.", key="host_too_wide")
    return text.lower()


@dataclass(frozen=True, slots=True)
class SandboxConfig:
    """The sandbox of an agent. Folders lie in the vault; `${CWD}` is the working directory, `~/…` a folder of the user.

    `network` is `none`, `bridge` (the hosts that the user allows everybody) or a list of hosts. Lists become tuples.
    """

    workspace_access: str = "none"
    allowed_paths: tuple[str, ...] = ()
    memory: str = "512m"
    cpus: float = 1.0
    pids_limit: int = 256
    network: str | tuple[str, ...] = "none"
    read_only_root: bool = True
    cap_drop: tuple[str, ...] = ("ALL",)

    def __post_init__(self) -> None:
        """Lists to tuples, and every value checked; error: InvalidInput naming the field."""
        if self.workspace_access not in WORKSPACE_ACCESS:
            raise InvalidInput(
                f"workspace_access: one of {', '.join(WORKSPACE_ACCESS)} is allowed.", key="workspace_access_invalid"
            )
        object.__setattr__(self, "allowed_paths", tuple(map(_agent_path, _texts(self.allowed_paths, "allowed_paths"))))
        memory_bytes(self.memory)
        if isinstance(self.cpus, bool) or not isinstance(self.cpus, int | float) or not 0.05 <= self.cpus <= 256:
            raise InvalidInput("cpus: a number from 0.05 to 256 is allowed.", key="cpus_invalid")
        if (
            isinstance(self.pids_limit, bool)
            or not isinstance(self.pids_limit, int)
            or not 8 <= self.pids_limit <= 32768
        ):
            raise InvalidInput("pids_limit: a whole number from 8 to 32768 is allowed.", key="pids_limit_invalid")
        object.__setattr__(self, "network", _network(self.network))
        if not isinstance(self.read_only_root, bool):
            raise InvalidInput("read_only_root: true or false is allowed.", key="read_only_root_invalid")
        object.__setattr__(self, "cap_drop", _texts(self.cap_drop, "cap_drop"))
        for name in self.cap_drop:
            if not _CAPABILITY_OF_KERNEL.fullmatch(name):
                raise InvalidInput(
                    f"cap_drop: {name[:40]!r} must be ALL or a name such as NET_RAW.", key="cap_drop_invalid"
                )


@dataclass(frozen=True, slots=True)
class AgentConfig:
    """An agent that a module may run. `sandbox` None means without a sandbox, which only an explicit approval allows.

    `capabilities` are tools (`read` and `Read` are the same), `bash` the commands that it may start: all of them (True),
    none (False) or those named. `can_suggest` names the modules for whose data it may make suggestions.
    """

    description: str = ""
    sandbox: SandboxConfig | None = field(default_factory=SandboxConfig)
    system_prompt: str = ""
    capabilities: tuple[str, ...] = ()
    bash: bool | tuple[str, ...] = False
    can_suggest: tuple[str, ...] = ()
    allowed_interfaces: tuple[str, ...] = ()
    load_cwd_claude_md: bool = False
    requires_explicit_approval: bool = False
    requires_explicit_invocation: bool = False
    allow_workspace_skills: bool = False
    allow_user_skills: bool = False

    def __post_init__(self) -> None:
        """Lists to tuples, and every value checked; error: InvalidInput naming the field."""
        for name in ("description", "system_prompt"):
            if not isinstance(getattr(self, name), str):
                raise InvalidInput(f"{name}: text is allowed.", key="text_expected")
        if self.sandbox is not None and not isinstance(self.sandbox, SandboxConfig):
            raise InvalidInput("sandbox: a SandboxConfig or None is allowed.", key="sandbox_invalid")
        object.__setattr__(self, "capabilities", tuple(map(capability, _texts(self.capabilities, "capabilities"))))
        if "Bash" in self.capabilities and self.bash is False:
            object.__setattr__(self, "bash", True)
        object.__setattr__(self, "bash", commands(self.bash))
        for name in ("can_suggest", "allowed_interfaces"):
            object.__setattr__(self, name, _texts(getattr(self, name), name))
        for name in _SWITCHES:
            if not isinstance(getattr(self, name), bool):
                raise InvalidInput(f"{name}: true or false is allowed.", key="boolean_expected")
        if self.sandbox is None and not self.requires_explicit_approval:
            raise InvalidInput(
                "sandbox: an agent without a sandbox needs requires_explicit_approval: true.", key="approval_missing"
            )

    @classmethod
    def of(cls, value: "AgentConfig | Mapping[str, Any]") -> "AgentConfig":
        """The agent in either spelling: an AgentConfig, or a dict with `paths`, `capabilities`, `bash` and `network`."""
        if isinstance(value, AgentConfig):
            return value
        if not isinstance(value, Mapping):
            raise InvalidInput("an agent must be an AgentConfig or a dict.", key="agent_invalid")
        rest = dict(value)
        short = {name: rest.pop(name) for name in ("paths", "network") if name in rest}
        unknown = [name for name in rest if name not in _AGENT_FIELDS]
        if unknown:
            raise InvalidInput(f"{unknown[0]}: unknown field of an agent.", key="agent_field_unknown")
        if "sandbox" in rest and short:
            raise InvalidInput(
                f"{next(iter(short))}: say it inside of sandbox, when there is one.", key="sandbox_said_twice"
            )
        agent = cls(**rest)
        if "sandbox" in rest:
            return agent
        writes = {"Write", "Edit", "NotebookEdit"} & set(agent.capabilities)
        paths = _texts(short.get("paths", ()), "paths")
        access = "none" if not paths else "rw" if writes else "ro"
        sandbox = SandboxConfig(workspace_access=access, allowed_paths=paths, network=short.get("network", "none"))
        return replace(agent, sandbox=sandbox)


def agent(**values: Any) -> AgentConfig:
    """An agent in the short spelling: `agents = {"responder": agent(paths=["Brain/**"], capabilities=["read"])}`."""
    return AgentConfig.of(values)


def capability(name: str) -> str:
    """The tool's name as the agent knows it; error: InvalidInput naming those that exist."""
    known = _CAPABILITIES.get(name.lower())
    if known is None:
        raise InvalidInput(
            f"capabilities: {name[:40]!r} is unknown; allowed are {', '.join(CAPABILITIES)}.", key="capability_unknown"
        )
    return known


def commands(value: object, field: str = "bash") -> bool | tuple[str, ...]:
    """True, False or names of commands; error: InvalidInput."""
    if isinstance(value, bool):
        return value
    names = _texts(value, field)
    for name in names:
        if not _COMMAND.fullmatch(name):
            raise InvalidInput(
                f"{field}: {name[:40]!r} must be the name of a command, without arguments or a path.",
                key="command_invalid",
            )
    return names


_SWITCHES = (
    *("load_cwd_claude_md", "requires_explicit_approval", "requires_explicit_invocation"),
    *("allow_workspace_skills", "allow_user_skills"),
)
_AGENT_FIELDS = frozenset(entry.name for entry in fields(AgentConfig))


def _network(value: object) -> str | tuple[str, ...]:
    if isinstance(value, bool):
        return "bridge" if value else "none"
    if isinstance(value, str):
        if value not in ("none", "bridge"):
            raise InvalidInput("network: none, bridge or a list of hosts is allowed.", key="network_invalid")
        return value
    return tuple(host_name(host) for host in _texts(value, "network")) or "none"


def _agent_path(text: str) -> str:
    inside = text
    if text == WORKING_DIRECTORY or text.startswith(f"{WORKING_DIRECTORY}/"):
        inside = text[len(WORKING_DIRECTORY) :].strip("/") or "x"
    elif text.startswith("~/"):
        inside = text[2:]
        first = inside.split("/")[0]
        if not first or first.startswith(".") or "*" in first or "?" in first:
            raise InvalidInput(
                f"allowed_paths: {text[:80]!r} must name a folder of the user that is not hidden.",
                key="agent_path_invalid",
            )
    Pattern.parse(inside, "allowed_paths")
    return text


def _texts(value: object, field: str) -> tuple[str, ...]:
    if isinstance(value, str) or not isinstance(value, Iterable):
        raise InvalidInput(f"{field}: a list of texts is allowed.", key="texts_expected")
    items = tuple(value)
    if not all(isinstance(item, str) and item.strip() for item in items):
        raise InvalidInput(f"{field}: a list of texts is allowed.", key="texts_expected")
    return items
