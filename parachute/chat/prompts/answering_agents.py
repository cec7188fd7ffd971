"""The interface by which chat finds the agent that a conversation was begun with."""

from abc import ABC, abstractmethod

from msgspec import Struct


class AnsweringAgent(Struct, frozen=True):
    """An agent that answers in place of the computer's own; None for a list restricts nothing.

    `path` names its file as approvals do, and `content` is the whole of that. `tools`, `commands` of a shell, `skills` and
    `mcp_servers` narrow what the conversation has.
    """

    name: str
    path: str
    content: str
    prompt: str
    tools: tuple[str, ...] | None = None
    commands: tuple[str, ...] | None = None
    skills: tuple[str, ...] | None = None
    mcp_servers: tuple[str, ...] | None = None
    model: str | None = None


class AnsweringAgents(ABC):
    """Finds agents by what a message names as `agentPath`."""

    @abstractmethod
    def find(self, agent_path: str) -> AnsweringAgent:
        """The agent; waits for the disk. Errors: NotFound, InvalidInput for one that cannot be obeyed."""
