"""Capabilities of a turn: what the wing `capabilities` offers to a person's conversation beside the tools of modules."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from pathlib import Path

from parachute.chat.agent_processes.models import ServerTool
from parachute.chat.sessions.models import Session
from parachute.chat.workspaces.models import Capabilities, Workspace
from parachute.security.trust_levels import TrustLevel


@dataclass(frozen=True, slots=True)
class CapabilityRequest:
    """The conversation that asks; `choice` is what its workspace or the settings allow, `allowed_tools` what its agent lists."""

    session: Session
    level: TrustLevel
    choice: Capabilities
    workspace: Workspace | None = None
    directory: Path | None = None
    allowed_tools: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class OfferedCapabilities:
    """The answer; `warnings` are pairs of a title and a sentence about what is left out."""

    tools: tuple[ServerTool, ...] = ()
    warnings: tuple[tuple[str, str], ...] = ()


class CapabilitySource(ABC):
    """Offers capabilities to conversations."""

    @abstractmethod
    async def offered(self, request: CapabilityRequest) -> OfferedCapabilities:
        """Return what a turn gets; never raises for a part that does not work: the conversation goes on without it."""
