"""Preparation of a turn: where it runs, with which prompt, tools and rules."""

import asyncio
import contextlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from pathlib import Path

from msgspec import Struct

from parachute.base.errors import InvalidInput, ParachuteError
from parachute.changes.service import Changes
from parachute.chat.agent_processes.models import AgentSpecification, ModuleTools, OwnTool, shown_name
from parachute.chat.agent_processes.program_tools import offered
from parachute.chat.agent_processes.tools import shown_names
from parachute.chat.contexts.service import Contexts
from parachute.chat.origins.service import Origins
from parachute.chat.permissions.models import EVERYTHING, SessionPermissions
from parachute.chat.permissions.service import Permissions
from parachute.chat.prompts.service import Prompt, Prompts
from parachute.chat.runs.capabilities import NOTHING, OfferedCapabilities
from parachute.chat.sessions.models import Session
from parachute.chat.sessions.service import Sessions
from parachute.config.settings.home import Home
from parachute.config.settings.models import Settings
from parachute.config.vault.service import Vault
from parachute.llm.gateway.endpoint import ModelEndpoint
from parachute.llm.gateway.models import Provider
from parachute.llm.gateway.service import Gateway
from parachute.modules.runtime.models import OfferedTool
from parachute.sandbox.engines.execution import Execution
from parachute.sandbox.engines.service import Sandboxes
from parachute.security.permissions.actions import tool_listed
from parachute.security.permissions.grants import Grant
from parachute.security.permissions.policy import Policy


class ProposingTools(ABC):
    """Offers the tool by which the agent of a person's conversation proposes changes of what modules keep."""

    @abstractmethod
    def suggest_tool(self, session: Session, tools: Sequence[OfferedTool], *, by_owner: bool) -> OwnTool | None:
        """Return the tool for a session that has these tools of modules; None if there is nothing to propose."""


class ReadingTools(ABC):
    """Offers tools of the computer itself that do something with files that the agent of a sandboxed conversation may read."""

    @abstractmethod
    async def tools(self, session: Session, execution: Execution) -> tuple[OwnTool, ...]:
        """Return the tools for a session that runs there; they check again what it may when they are called."""


class AgentServices(Struct, frozen=True):
    """The services from which every agent is prepared: a person's, a module's, and the computer's own."""

    home: Home
    settings: Settings
    vault: Vault
    sessions: Sessions
    gateway: Gateway
    sandboxes: Sandboxes
    prompts: Prompts
    tools: ModuleTools
    changes: Changes
    contexts: Contexts
    permissions: Permissions
    origins: Origins


class TurnPlan(Struct, frozen=True):
    """The part of a turn that differs between persons, agents of modules and agents of the computer itself.

    `prompt` composes the prompt for a description of the rules; it may wait for the disk. `tools` are those of the agent's
    program. `is_persons`: the agent may ask, and use whatever its own `allowed_tools` list; others have only `tools` and
    `module_tools`. `permissions` are what is left to the session, `directory` the folder of this machine in which it works.
    """

    session: Session
    resume: bool
    endpoint: ModelEndpoint
    execution: Execution
    provider: Provider
    prompt: Callable[[str], Prompt]
    tools: tuple[str, ...]
    module_tools: tuple[OfferedTool, ...]
    allowed_commands: tuple[str, ...] | None = None
    allowed_tools: tuple[str, ...] | None = None
    is_persons: bool = False
    offered: OfferedCapabilities = NOTHING
    permissions: SessionPermissions = EVERYTHING
    directory: Path | None = None


class Preparation(Struct, frozen=True):
    """A turn that is ready to begin; `is_reviewed`: what it writes to a view waits for the owner.

    `refusal_of_page` says of an address why the agent may not load it.
    """

    execution: Execution
    prompt: Prompt
    policy: Policy
    specification: AgentSpecification
    provider: Provider
    is_reviewed: bool = False
    refusal_of_page: Callable[[str], ParachuteError | None] | None = None
    offered: OfferedCapabilities = NOTHING


async def compose(services: AgentServices, plan: TurnPlan) -> Preparation:
    """Compose the rules, the prompt and the agent of a turn: each follows from the one before."""
    execution, provider, offline = plan.execution, plan.provider, plan.provider.is_offline
    plan.endpoint.is_online = execution.is_online
    # With a sandbox that falls back to none the plugins are gone, too.
    plugins = tuple(plugin for plugin in plan.offered.plugins if plugin.name in execution.plugins)
    skills = plan.offered.skills if plugins else ()
    tools = offered(plan.tools, execution, provider, has_skills=bool(skills))
    if plan.allowed_tools is not None:
        tools = tuple(tool for tool in tools if tool_listed(tool, plan.allowed_tools))
    permissions, is_direct = plan.permissions, execution.mode == "direct"
    tools = permissions.program_tools(tools, is_direct=is_direct)
    mcp_tools = shown_names(plan.module_tools)
    allowed_tools = plan.allowed_tools
    if not plan.is_persons or permissions.capabilities is not None or (is_direct and permissions.network is not None):
        allowed_tools = (*tools, *mcp_tools)
    folders = permissions.roots(services.vault, plan.directory)
    policy = Policy(
        level=execution.mode,
        trust_mode=services.settings.trust_mode,
        vault=services.vault.root,
        home=services.home.root,
        working_directory=Path(execution.directory),
        grants=await granted(services, plan.session.id),
        allowed_commands=plan.allowed_commands,
        allowed_tools=allowed_tools,
        mcp_tools=mcp_tools,
        reading_tools={
            shown_name(tool): tool.reads for tool in plan.module_tools if isinstance(tool, OwnTool) and tool.reads
        },
        mapped_roots=dict(execution.roots),
        given=tuple(plugin.folder for plugin in plugins),
        folders=folders,
        narrowing=permissions.sentences(_seen(execution, folders or ()), mcp_tools),
    )
    prompt = await asyncio.to_thread(plan.prompt, policy.describe())
    specification = AgentSpecification(
        session=plan.session.id,
        resume=plan.resume,
        execution=execution,
        endpoint=plan.endpoint,
        system_prompt=prompt.text,
        tools=tools,
        model=provider.model or provider.asked,
        asks_questions=plan.is_persons and not offline and permissions.has_tool("AskUserQuestion"),
        module_tools=plan.module_tools,
        preset=prompt.preset and not offline,
        place=prompt.place,
        helpers=plan.offered.helpers,
        plugins=plugins,
        skills=skills,
    )
    is_reviewed = services.settings.changes.apply == "review"
    return Preparation(execution, prompt, policy, specification, provider, is_reviewed, offered=plan.offered)


def _seen(execution: Execution, folders: Sequence[Path]) -> tuple[str, ...]:
    """Folders of this machine as an agent sees them."""
    if execution.mode == "direct":
        return tuple(map(str, folders))
    return tuple(
        sorted(inside for inside, folder in execution.roots.items() if any(map(folder.is_relative_to, folders)))
    )


async def granted(services: AgentServices, session: str) -> tuple[Grant, ...]:
    """The grants of a session; a stored text that is none (any more) grants nothing."""
    grants = []
    for text in await services.sessions.grants(session):
        with contextlib.suppress(InvalidInput):
            grants.append(Grant.parse(text))
    return tuple(grants)
