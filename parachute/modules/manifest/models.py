"""Every field of a manifest, checked and immutable."""

import re
from collections.abc import Collection, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal

from msgspec import Struct, field

from parachute.base.errors import InvalidInput
from parachute.base.integers import LARGEST
from parachute.core.agents import AgentConfig, memory_bytes
from parachute.core.patterns import Pattern

NAME = re.compile(r"[a-z][a-z0-9_-]{0,39}")
"""The name of a module; `modules.registry.names` has those that are taken."""

_PART = r"[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?"
_EXTRAS = rf"(?:\s*\[\s*{_PART}(?:\s*,\s*{_PART})*\s*\])?"
_VERSION = r"(?:===?|~=|!=|<=|>=|<|>)\s*[A-Za-z0-9._*+!-]+"
_MARKER = r"(?:\s*;[A-Za-z0-9_ .'\"<>=!~(),+*-]+)?"
REQUIREMENT = re.compile(rf"{_PART}{_EXTRAS}\s*(?:{_VERSION}(?:\s*,\s*{_VERSION})*)?{_MARKER}")
"""A package with extras, versions and a marker. No address and no path: from those pip would run what it finds there."""

INTERFACE = re.compile(r"([A-Z][A-Za-z0-9]{2,59})(?:@([0-9]{1,4})\.([0-9]{1,4}))?")

SettingType = Literal["string", "integer", "number", "boolean", "choice", "secret"]
ConversationAccess = Literal["none", "read", "write"]
JournalAccess = Literal["read", "write"]
SessionAccess = Literal["none", "create"]
Start = Literal["socket-activated", "always"]

CONVERSATION_KINDS = ("default", "workspace", "trusted")
"""A chat without a folder, one with a folder, and one that the user has let run on the computer itself."""


class InterfaceName(Struct, frozen=True):
    """An interface with its version, `Name@1.2` in a manifest; without a version it is 1.0."""

    name: str
    major: int = 1
    minor: int = 0

    @classmethod
    def parse(cls, text: str) -> "InterfaceName":
        """Read `Name` or `Name@1.2`; error: InvalidInput."""
        match = INTERFACE.fullmatch(text)
        if not match:
            raise InvalidInput(
                f"{text[:60]!r} must be a name such as BrainInterface or BrainInterface@1.2.",
                key="interface_name_invalid",
            )
        return cls(match[1], *(int(part) for part in match.groups()[1:] if part is not None))

    def satisfies(self, wanted: "InterfaceName") -> bool:
        """True if this version serves a user of `wanted`: the same major version, and at least its minor one."""
        return (self.name, self.major) == (wanted.name, wanted.major) and self.minor >= wanted.minor

    def __str__(self) -> str:
        return f"{self.name}@{self.major}.{self.minor}" if (self.major, self.minor) != (1, 0) else self.name


class Permissions(Struct, frozen=True):
    """The rights of the module's own process. `read` and `write` are patterns of paths within the vault; writing includes
    reading. `bash`: programs it starts, none if False; `mcp`: tools that its agents may use; `network`: hosts, exact or
    `*.domain`; `conversations`: what it may do with the user's chats, where writing includes reading; `journal`: what it may do
    by JournalInterface; `sessions`: whether it may bring chats and files from elsewhere. `reasons` are the author's, by pattern or host."""

    read: tuple[str, ...] = ()
    write: tuple[str, ...] = ()
    bash: bool | tuple[str, ...] = False
    mcp: tuple[str, ...] = ()
    network: tuple[str, ...] = ()
    conversations: ConversationAccess = "none"
    journal: JournalAccess = "read"
    sessions: SessionAccess = "none"
    reasons: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))


class Hook(Struct, frozen=True):
    """A reaction to an event; `handler` is `file:function`, or empty for a method marked with @event. `wait`: not async."""

    event: str
    handler: str = ""
    is_async: bool = False


RESOURCE_NAMES = ("resources-entries", "resources-entities", "resources-files")
"""Kinds of resources, which stand beside tools in what MCP clients are granted: no tool has such a name."""


class ToolDeclaration(Struct, frozen=True):
    """An MCP tool; `handler` is `file:function`, or empty for a method marked with @mcp_tool."""

    name: str
    description: str
    handler: str = ""


class Service(Struct, frozen=True):
    """Start and limits of the module's process; `memory` as 256m, `idle_seconds` until an unused process ends."""

    start: Start = "socket-activated"
    memory: str = "256m"
    pids: int = 64
    idle_seconds: float = 60

    @property
    def memory_bytes(self) -> int:
        return memory_bytes(self.memory)


class UserInterface(Struct, frozen=True):
    """The module's appearance in an app; `entry` is a file of the module."""

    title: str
    icon: str = ""
    entry: str = ""


class Setting(Struct, frozen=True):
    """A value that the user may change; a secret has no default and is never shown again."""

    name: str
    type: SettingType
    default: Any = None
    description: str = ""
    choices: tuple[str, ...] = ()

    def check(self, value: object) -> Any:
        """The value, if it is of this setting's type; error: InvalidInput saying what is allowed."""
        if self.type == "choice":
            is_right = value in self.choices
        else:
            is_right = isinstance(value, _CLASSES[self.type]) and isinstance(value, bool) is (self.type == "boolean")
            is_right = is_right and not (isinstance(value, str) and len(value) > _LONGEST_VALUE)
            # Neither NaN nor infinity is within bounds.
            is_right = is_right and (not isinstance(value, int | float) or -LARGEST <= value <= LARGEST)
        if is_right:
            return value
        allowed = f"one of {', '.join(self.choices)}" if self.type == "choice" else _TYPES[self.type]
        raise InvalidInput(f"{self.name}: {allowed} is allowed.", key="field_invalid")


_LONGEST_VALUE = 10_000
_CLASSES: Mapping[str, tuple[type, ...]] = {
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "string": (str,),
    "secret": (str,),
}
_TYPES: Mapping[str, str] = {
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "string": f"text of up to {_LONGEST_VALUE:,} characters",
    "secret": f"text of up to {_LONGEST_VALUE:,} characters",
}


class Manifest(Struct, frozen=True):
    """A whole manifest; `prompts` are files of the module by the kind of conversation that begins with them.

    `accepts` are the actions of suggestions that the module applies.
    """

    name: str
    version: str
    module: str
    description: str = ""
    author: str = ""
    provides: tuple[InterfaceName, ...] = ()
    optional_requires: tuple[InterfaceName, ...] = ()
    dependencies: tuple[str, ...] = ()
    permissions: Permissions = field(default_factory=Permissions)
    agents: Mapping[str, AgentConfig] = field(default_factory=lambda: MappingProxyType({}))
    prompts: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    hooks: tuple[Hook, ...] = ()
    mcp_tools: tuple[ToolDeclaration, ...] = ()
    accepts: tuple[str, ...] = ()
    prefix: str = ""
    service: Service = field(default_factory=Service)
    ui: UserInterface | None = None
    settings: tuple[Setting, ...] = ()

    @property
    def defaults(self) -> dict[str, Any]:
        """Every setting with its default."""
        return {setting.name: setting.default for setting in self.settings}

    def missing_files(self, files: Collection[str]) -> tuple[str, ...]:
        """A sentence for each file that the manifest names and that is not among those of the module."""
        named = {"module": self.module}
        named |= {f"agents.{name}.system_prompt": agent.system_prompt for name, agent in self.agents.items()}
        named |= {f"prompts.{kind}": file for kind, file in self.prompts.items()}
        for index, tool in enumerate(self.mcp_tools):
            named[f"mcp_tools[{index}].handler"] = handler_file(tool.handler)
        for index, hook in enumerate(self.hooks):
            named[f"hooks[{index}].handler"] = handler_file(hook.handler)
        if self.ui is not None:
            named["ui.entry"] = self.ui.entry
        return tuple(
            f"{where}: the module has no file {name}."
            for where, name in named.items()
            if name and name not in files and f"{name.removesuffix('.py')}/__init__.py" not in files
        )


def handler_file(handler: str) -> str:
    """The file in which a handler such as `tools:search` lies, or nothing."""
    return f"{handler.partition(':')[0].replace('.', '/')}.py" if handler else ""


def folders(patterns: tuple[str, ...], vault: Path) -> tuple[Path, ...]:
    """The folders and files of the vault in which everything lies that the patterns stand for, without those inside others.

    A pattern that begins with a wildcard stands for every folder and file at the top of the vault that is not hidden, as
    they are now; never for the vault itself, in which the computer's own folders lie.
    """
    found: set[Path] = set()
    for text in patterns:
        literal = Pattern.parse(text).literal
        if literal:
            found.add(vault.joinpath(*literal))
        elif vault.is_dir():
            found |= {path for path in vault.iterdir() if not path.name.startswith(".") and not path.is_symlink()}
    return tuple(sorted(path for path in found if not found & set(path.parents)))
