"""Preparing a turn: where it runs, with which prompt, tools and rules."""

import asyncio
import contextlib
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from parachute.agents.models import AgentSpecification, ModuleTools
from parachute.agents.pool import AgentPool
from parachute.agents.tools import permitted, shown_names
from parachute.audit.service import Audit
from parachute.contexts.service import Contexts
from parachute.events.service import Events
from parachute.gateway.models import Provider
from parachute.gateway.service import Gateway
from parachute.hooks.service import Hooks
from parachute.mcp_servers.service import McpServers
from parachute.permissions.models import Access, Grant
from parachute.permissions.policy import Policy
from parachute.prompts.service import Prompt, Prompts
from parachute.sandbox.limits import NO_LIMITS
from parachute.sandbox.service import Execution, Sandboxes
from parachute.sessions.models import Session
from parachute.sessions.service import Sessions
from parachute.settings.home import Home
from parachute.settings.models import Settings
from parachute.vault.service import Vault
from parachute.workspaces.models import Capabilities, Workspace, choice_of
from parachute.workspaces.service import Workspaces

_TOOLS = ("Read", "Write", "Edit", "Glob", "Grep", "Bash", "AskUserQuestion")


@dataclass(frozen=True, slots=True)
class Services:
    """What a turn works with."""

    home: Home
    settings: Settings
    vault: Vault
    sessions: Sessions
    gateway: Gateway
    sandboxes: Sandboxes
    prompts: Prompts
    pool: AgentPool
    tools: ModuleTools
    contexts: Contexts
    events: Events
    hooks: Hooks
    audit: Audit
    workspaces: Workspaces
    mcp_servers: McpServers | None = None


@dataclass(frozen=True, slots=True)
class Preparation:
    """A turn that is ready to begin."""

    execution: Execution
    prompt: Prompt
    policy: Policy
    specification: AgentSpecification
    provider: Provider


async def prepare(
    services: Services,
    session: Session,
    request: Any,
    directory: Path | None,
    *,
    resume: bool,
    workspace: Workspace | None = None,
    by_owner: bool = False,
) -> Preparation:
    """Decide where a session runs, then compose everything that follows from that."""
    level = await services.sessions.level(session)
    line = await services.gateway.open(session.id)
    limits = workspace.limits if workspace else NO_LIMITS
    execution = await services.sandboxes.prepare(session, level, directory, line, limits, by_owner=by_owner)
    # It starts while the prompt and the tools are composed.
    services.sandboxes.wake(session.id)
    commands, allowed_tools = await asyncio.to_thread(services.prompts.limits, session.agent_path)
    provider = services.gateway.provider
    offline = provider.name == "offline"
    module_tools = () if offline else permitted(services.tools.tools(), allowed_tools)
    mcps = workspace.capabilities.mcps if workspace else choice_of(services.settings.default_capabilities.mcps)
    module_tools = Capabilities(mcps).tools(module_tools)
    # Who writes from outside is given a server of the user's only where the user put the conversation in a workspace.
    if services.mcp_servers is not None and not offline and (workspace or not session.from_outside):
        server_tools, warnings = await services.mcp_servers.offered(mcps, allowed_tools)
        module_tools += server_tools
        execution = replace(execution, warnings=(*execution.warnings, *warnings))
    policy = Policy(
        level=execution.mode,
        trust_mode=services.settings.trust_mode,
        vault=services.vault.root,
        home=services.home.root,
        working_directory=Path(execution.directory),
        grants=await granted(services, session.id),
        allowed_commands=commands,
        allowed_tools=allowed_tools,
        mcp_tools=shown_names(module_tools),
        mapped_roots=dict(execution.roots),
    )
    prompt = await asyncio.to_thread(
        services.prompts.compose,
        execution,
        policy.describe(),
        custom=getattr(request, "system_prompt", None),
        agent_path=session.agent_path,
        directory=directory,
        contexts=tuple(getattr(request, "contexts", ())),
    )
    tools: tuple[str, ...] = () if offline else _TOOLS
    if provider.name == "anthropic":
        tools += ("WebSearch",)
        if execution.mode == "direct":
            tools += ("WebFetch",)
    if allowed_tools is not None:
        tools = tuple(tool for tool in tools if tool in allowed_tools)
    specification = AgentSpecification(
        session=session.id,
        resume=resume,
        execution=execution,
        line=line,
        system_prompt=prompt.text,
        tools=tools,
        model=provider.model or session.model or (workspace and workspace.model) or services.settings.model,
        asks_questions=not offline,
        module_tools=module_tools,
    )
    return Preparation(execution, prompt, policy, specification, provider)


async def granted(services: Services, session: str) -> tuple[Grant, ...]:
    """The grants of a session; a stored text that is none (any more) grants nothing."""
    grants = []
    for text in await services.sessions.grants(session):
        access, _, pattern = text.partition(":")
        with contextlib.suppress(ValueError):
            grants.append(Grant(Access(access), pattern))
    return tuple(grants)
