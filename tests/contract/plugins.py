"""Plugins, as the app reads them (contract, section 5)."""

from typing import Any

from pydantic import Field

from .agents_and_skills import Skill
from .dart import Moment, Snake


class Plugin(Snake):
    """One plugin."""

    slug: str
    name: str
    version: str = "0.0.0"
    description: str = ""
    author: str | None = None
    source: str = "parachute"
    source_url: str | None = Field(None, alias="sourceUrl")
    path: str = ""
    skills: list[str] = []
    agents: list[str] = []
    mcps: list[str] = []
    installed_at: Moment | None = Field(None, alias="installedAt")


class PluginList(Snake):
    """Answer of GET of all."""

    plugins: list[Plugin]


class PluginEnvelope(Snake):
    """Answer of an installation and an update."""

    plugin: Plugin


class PluginSkill(Skill):
    """A skill of a plugin."""

    modified: Any = None


class PluginAgent(Snake):
    """An agent of a plugin."""

    name: str
    description: str | None = None
    type: str = "chatbot"
    model: str | None = None
    path: str | None = None
    source: str = "builtin"
    tools: list[str] = []
    system_prompt: str | None = None
    system_prompt_preview: str | None = None
    permissions: dict[str, Any] | None = None
    constraints: dict[str, Any] | None = None
    mcp_servers: Any = None
    spawns: list[str] = []
