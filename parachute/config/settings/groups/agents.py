"""The agents of conversations: their processes, what they may use, and what becomes of what they change."""

from typing import Annotated, Literal

from pydantic import Field

from parachute.config.settings.groups.values import LARGEST_MEGABYTES, LONGEST_MINUTES, Group

Named = Annotated[str, Field(min_length=1, max_length=100)]

Apply = Literal["auto", "review", "live"]
"""The way of what a sandboxed agent writes into its project."""


class AgentSettings(Group):
    """Agent processes that are kept ready between turns, and how long those wait that need a yes."""

    warm: int = Field(
        title="Conversations kept ready",
        default=3,
        ge=0,
        le=32,
        description="How many conversations keep their agent process between turns.",
    )
    warm_minutes: float = Field(
        title="Kept ready for",
        default=10,
        gt=0,
        le=LONGEST_MINUTES,
        allow_inf_nan=False,
        description="Time without a message after which a waiting agent process ends.",
    )
    spare: bool = Field(
        title="Start a new chat faster",
        default=True,
        description="Keep one agent started for the next new chat while an app is around.",
    )
    memory_floor_megabytes: int = Field(
        title="Memory to keep free",
        default=400,
        ge=0,
        le=LARGEST_MEGABYTES,
        description="Keep no agent process while less memory than this is free.",
    )
    approval_minutes: float = Field(
        title="Wait for your yes for",
        default=60,
        gt=0,
        le=10_080,
        allow_inf_nan=False,
        description="Time after which a run of a module's agent that waits for your approval is refused.",
    )


class DefaultCapabilitySettings(Group):
    """Limits of conversations without a workspace."""

    mcps: Literal["all", "none"] | list[Named] = Field(
        title="MCP servers and modules in chats",
        default=["parachute"],
        description="MCP servers, tools and modules for chats without a workspace; parachute stands for all modules.",
    )
    agents: Literal["all", "none"] | list[Named] = Field(
        title="Agents in chats",
        default="all",
        description="Agents that may answer, and to which work may be given, in chats without a workspace.",
    )
    skills: Literal["all", "none"] | list[Named] = Field(
        title="Skills in chats", default="all", description="Skills that chats without a workspace may use."
    )
    plugins: Literal["all", "none"] | list[Named] = Field(
        title="Plugins in chats",
        default="all",
        description="Plugins of which chats without a workspace have the parts.",
    )


class CapabilitiesSettings(Group):
    """Sources of capabilities."""

    read_home: bool = Field(
        title="Also use what Claude Code has",
        default=False,
        description="Use the agents, skills and plugins of Claude Code in ~/.claude as well.",
    )


class ChangesSettings(Group):
    """Changes of runs, and what is kept to take them back."""

    apply: Apply = Field(
        title="How changes get into a project",
        default="auto",
        description="How changes by sandboxed agents reach a project: auto, review (they wait for you), or live (agents write there).",
    )
    keep_days: int = Field(
        title="Undo is possible for", default=30, ge=1, le=3650, description="Days for which a run can be undone."
    )
    keep_megabytes: int = Field(
        title="Space for undo",
        default=5120,
        ge=64,
        le=LARGEST_MEGABYTES,
        description="Most disk space for undo; the oldest runs are dropped first.",
    )
    file_megabytes: int = Field(
        title="Largest file that is applied",
        default=256,
        ge=1,
        le=65536,
        description="A larger file is not applied to a project, and waits.",
    )
