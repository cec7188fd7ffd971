"""Capabilities of a turn: what the wing `capabilities` offers to a person's conversation beside the tools of modules."""

from abc import ABC, abstractmethod
from pathlib import Path

from msgspec import Struct, field
from msgspec.structs import replace

from parachute.chat.agent_processes.models import Helper, Plugin, ServerTool
from parachute.chat.permissions.models import SessionPermissions
from parachute.chat.prompts.answering_agents import AnsweringAgent
from parachute.chat.sessions.models import Session
from parachute.chat.workspaces.models import Capabilities, Workspace
from parachute.security.trust_levels import TrustLevel


class CapabilityRequest(Struct, frozen=True):
    """The conversation that asks; `choice` is what its workspace or the settings allow, `allowed_tools` what its agent lists.

    `level` is how it will really run, `agent` the one that answers if it is none of the computer's own.
    """

    session: Session
    level: TrustLevel
    choice: Capabilities
    workspace: Workspace | None = None
    directory: Path | None = None
    allowed_tools: tuple[str, ...] | None = None
    agent: AnsweringAgent | None = None


class LeftOut(Struct, frozen=True):
    """Something that a conversation which runs directly goes on without; `command` with its name approves it."""

    kind: str
    name: str
    command: str


class CapabilityNames(Struct, frozen=True):
    """The names of what is offered, as the app shows them."""

    agents: tuple[str, ...] = ()
    skills: tuple[str, ...] = ()
    mcps: tuple[str, ...] = ()


class OfferedCapabilities(Struct, frozen=True):
    """The answer; `warnings` are pairs of a title and a sentence.

    `skills` are those of all plugins that the agent may use, by their full names: `plugin:skill`.
    """

    tools: tuple[ServerTool, ...] = ()
    warnings: tuple[tuple[str, str], ...] = ()
    helpers: tuple[Helper, ...] = ()
    plugins: tuple[Plugin, ...] = ()
    names: CapabilityNames = field(default_factory=CapabilityNames)
    skills: tuple[str, ...] = ()
    left_out: tuple[LeftOut, ...] = ()


NOTHING = OfferedCapabilities()


def narrowed(offered: OfferedCapabilities, permissions: SessionPermissions) -> OfferedCapabilities:
    """Return an offer within permissions: skills and helpers are nothing without the tools that use them."""
    names, tools = offered.names, tuple(filter(permissions.offers, offered.tools))
    offered = replace(offered, tools=tools)
    names = replace(names, mcps=tuple(sorted({tool.server for tool in tools})))
    if not permissions.has_tool("Skill"):
        offered, names = replace(offered, plugins=(), skills=()), replace(names, skills=())
    if not permissions.has_tool("Task"):
        offered, names = replace(offered, helpers=()), replace(names, agents=())
    return replace(offered, names=names)


class CapabilitySource(ABC):
    """Offers capabilities to conversations."""

    @abstractmethod
    async def offered(self, request: CapabilityRequest) -> OfferedCapabilities:
        """Return what a turn gets; never raises for a part that does not work: the conversation goes on without it."""
