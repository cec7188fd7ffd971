"""Agents and skills, as the app reads them (contract, section 5)."""

from typing import Any

from pydantic import Field

from .dart import Snake


class Agent(Snake):
    """One agent."""

    name: str
    description: str | None = None
    type: str = "chatbot"
    model: str | None = None
    path: str | None = None
    source: str = "builtin"
    tools: list[str] = Field(default_factory=list)
    system_prompt: str | None = None
    system_prompt_preview: str | None = None
    permissions: dict[str, Any] | None = None
    constraints: dict[str, Any] | None = None
    mcp_servers: Any = None
    spawns: list[str] = Field(default_factory=list)


class AgentList(Snake):
    """Answer of GET of all."""

    agents: list[Agent]


class SkillFile(Snake):
    """A file of a skill."""

    name: str
    size: int = 0


class Skill(Snake):
    """One skill; the app takes `modified` for a text and nothing else."""

    name: str
    description: str = ""
    content: str | None = None
    size: int | None = None
    modified: str | None = None
    version: str | None = None
    allowed_tools: list[str] = Field(default_factory=list)
    is_directory: bool = False
    files: list[SkillFile] = Field(default_factory=list)
    source: str | None = None


class SkillList(Snake):
    """Answer of GET of all."""

    skills: list[Skill]
