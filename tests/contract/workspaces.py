"""Workspaces, as the app reads them (contract, section 4)."""

from typing import Literal

from pydantic import AliasChoices, Field

from .dart import Snake

Choice = Literal["all", "none"] | list[str]


class Capabilities(Snake):
    """Tools and other capabilities of its conversations."""

    mcps: Choice = "all"
    skills: Choice = "all"
    agents: Choice = "all"
    plugins: Choice = "all"


class Workspace(Snake):
    """One workspace."""

    name: str
    slug: str
    description: str = ""
    default_trust_level: str = Field(
        "direct", validation_alias=AliasChoices("default_trust_level", "trust_level"), pattern="^(direct|sandboxed)$"
    )
    working_directory: str | None = None
    model: str | None = None
    capabilities: Capabilities | None = None


class WorkspaceEnvelope(Snake):
    """Answer of GET of one, POST and PUT."""

    workspace: Workspace


class WorkspaceList(Snake):
    """`GET /api/workspaces`."""

    workspaces: list[Workspace]
