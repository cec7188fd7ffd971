"""The profile of a module's agent: folders, hosts, tools, commands and prompt."""

import asyncio
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from parachute.automation.module_agents.folders import MountRules
from parachute.automation.module_agents.prompt import directly, in_sandbox, prompt_file
from parachute.automation.module_agents.task import Task
from parachute.automation.suggestions.tools import suggest_tool
from parachute.base.errors import NotAllowed, NotFound
from parachute.capabilities.skills.service import Skills
from parachute.chat.agent_processes.models import OwnTool
from parachute.chat.agent_processes.tools import permitted
from parachute.chat.prompts.service import Prompt
from parachute.chat.runs.capabilities import NOTHING, CapabilityRequest, OfferedCapabilities
from parachute.chat.runs.confined import confined
from parachute.chat.runs.preparation import AgentServices, Preparation, TurnPlan, compose
from parachute.chat.sessions.models import Owner, Session
from parachute.chat.workspaces.models import EVERYTHING, choice_of
from parachute.core.agents import AgentConfig, SandboxConfig, memory_bytes
from parachute.llm.gateway.endpoint import ModelEndpoint
from parachute.llm.gateway.models import Provider
from parachute.modules.registry.models import Trust
from parachute.modules.runtime.models import ApprovedModule, OfferedTool
from parachute.sandbox.egress.models import NO_NETWORK, Network
from parachute.sandbox.egress.service import Egress
from parachute.sandbox.engines.execution import Execution
from parachute.sandbox.engines.limits import Limits
from parachute.sandbox.layout import EGRESS_SOCKET
from parachute.security.origin import Origin
from parachute.security.trust_levels import TrustLevel

RUN_SECONDS = 15 * 60.0

_DEFAULT_TOOLS = ("Read", "Write", "Edit", "Glob", "Grep")
# Nobody sees the question of such an agent; there is no screen to use in a sandbox; skills have a switch of their own.
_NEVER = frozenset({"AskUserQuestion", "Computer", "Skill"})
_SKILL = "Skill"
_OWN_PROCESSES = 128
"""Processes and threads of the agent's program itself, which `pids_limit` does not count."""
_MOST_PROCESSES = 1024
_OWN_MEGABYTES = 512
"""Memory of the agent's program, which the manifest's `memory` does not count: a conversation takes half of it."""


class AgentProfile(Struct):
    """Prepares the turns of one agent; `owner` identifies it, `sandbox` is what the user agreed to, None for the user's own rights.

    `origin` is that of its message. A tool of a module has to be on each of the lists in `mcp`. `module` is None for an agent of the computer itself, and
    `own_tools` gives the tools that only this run has.
    """

    services: AgentServices
    egress: Egress
    module: ApprovedModule | None
    owner: Owner
    config: AgentConfig
    sandbox: SandboxConfig | None
    mcp: tuple[tuple[str, ...], ...]
    prompt: str
    warnings: tuple[tuple[str, str], ...] = ()
    seconds: float = RUN_SECONDS
    own_tools: Callable[[str], tuple[OwnTool, ...]] | None = None
    skills: Skills | None = None
    origin: Origin = Origin.AGENT_FILE

    async def prepare(self, session: Session, *, resume: bool) -> Preparation:
        """Open the model endpoint and the egress proxy, prepare the sandbox and compose the prompt; errors: ParachuteError."""
        services = self.services
        provider = services.gateway.upstream.chosen(session.model)
        endpoint = await services.gateway.open(session.id, searched=services.origins.went_out, wanted=session.model)
        if self.module is not None:
            endpoint.counts_for = f"module:{self.module.name}"
        file = self.config.system_prompt
        prompt = Prompt(
            self.prompt,
            source="module" if file else "default",
            source_path=file or None,
            agent_name=self.owner.agent or None,
        )
        offered = await self._offered(session, provider)
        plugins = {plugin.name: plugin.folder for plugin in offered.plugins}
        if self.sandbox is None:
            execution = await services.sandboxes.prepare(session, "direct", None, endpoint, plugins=plugins)
            complete: Callable[[str], Prompt] = partial(directly, prompt, execution.directory)
        else:
            execution, complete = await self._confined(self.sandbox, session, endpoint, prompt, plugins)
        execution = replace(execution, warnings=(*execution.warnings, *offered.warnings))
        tools = () if provider.is_offline else self._module_tools(session.id)
        plan = TurnPlan(session, resume, endpoint, execution, provider, complete, self._tools(), tools)
        commands = _commands(self.config.bash)
        preparation = await compose(services, replace(plan, allowed_commands=commands, offered=offered))
        refusal = partial(self.egress.refusal_of_page, _egress_owner(session.id)) if execution.network.is_open else None
        return replace(preparation, refusal_of_page=refusal)

    async def _offered(self, session: Session, provider: Provider) -> OfferedCapabilities:
        """The user's skills, where the manifest asks for them; what runs directly gets only approved ones."""
        services = self.services
        if self.skills is None or not self.config.allow_user_skills or provider.is_offline:
            return NOTHING
        choice = replace(EVERYTHING, skills=choice_of(services.settings.default_capabilities.skills))
        level: TrustLevel = "direct" if self.sandbox is None else "sandboxed"
        found = await self.skills.offered(CapabilityRequest(session, level, choice))
        if found.plugin is None:
            return OfferedCapabilities(warnings=found.warnings)
        names = tuple(f"{found.plugin.name}:{name}" for name in found.names)
        return OfferedCapabilities(warnings=found.warnings, plugins=(found.plugin,), skills=names)

    async def _confined(
        self,
        config: SandboxConfig,
        session: Session,
        endpoint: ModelEndpoint,
        prompt: Prompt,
        plugins: Mapping[str, Path],
    ) -> tuple[Execution, Callable[[str], Prompt]]:
        services = self.services
        allowed = await asyncio.to_thread(
            self._mount_rules().mounts,
            config.allowed_paths if config.workspace_access != "none" else (),
            writable=config.workspace_access == "rw",
        )
        mounts, hosts = allowed.sorted(), self._hosts(config)
        if hosts:
            owner, socket = _egress_owner(session.id), endpoint.folder / EGRESS_SOCKET
            await self.egress.open(owner, hosts, socket, went_out=services.origins.went_out)
        limits = Limits(
            memory_megabytes=(memory_bytes(config.memory) >> 20) + _OWN_MEGABYTES,
            cpus=config.cpus,
            processes=min(_MOST_PROCESSES, config.pids_limit + _OWN_PROCESSES),
        )
        execution = await confined(services, endpoint, mounts, egress=bool(hosts), limits=limits, plugins=plugins)
        left_out = tuple(("Left out", sentence) for sentence in allowed.left_out)
        network = Network("list", hosts) if hosts else NO_NETWORK
        execution = replace(execution, warnings=(*self.warnings, *left_out), network=network)
        return execution, partial(in_sandbox, prompt, mounts, hosts, has_view=execution.view is not None)

    async def finish(self, session: str) -> None:
        """Close the egress proxy."""
        await self.egress.close(_egress_owner(session))

    def _tools(self) -> tuple[str, ...]:
        bash = ("Bash",) if self.config.bash else ()
        named = (tool for tool in self.config.capabilities if tool not in _NEVER and tool != "Bash")
        skills = (_SKILL,) if self.skills is not None and self.config.allow_user_skills else ()
        return tuple(dict.fromkeys((*named, *bash, *skills)))

    def _module_tools(self, session: str) -> tuple[OfferedTool, ...]:
        tools = self.services.tools.tools()
        for listed in self.mcp:
            tools = permitted(tools, listed)
        if interfaces := {name.partition("@")[0] for name in self.config.allowed_interfaces}:
            tools = tuple(tool for tool in tools if interfaces & set(tool.interfaces))
        if self.config.can_suggest:
            tools = (*tools, suggest_tool(self.config.can_suggest))
        return (*tools, *self.own_tools(session)) if self.own_tools else tools

    def _hosts(self, config: SandboxConfig) -> tuple[str, ...]:
        if config.network == "bridge":
            return tuple(self.services.settings.sandbox.hosts)
        return config.network if isinstance(config.network, tuple) else ()

    def _mount_rules(self) -> MountRules:
        services = self.services
        return MountRules(
            vault=services.vault.root.resolve(),
            state=services.home.root.resolve(),
            projects=tuple(services.settings.project_folders),
            check_directory=services.sandboxes.check_directory,
        )


def profile_of(
    services: AgentServices,
    egress: Egress,
    module: ApprovedModule,
    agent: str | None,
    mcp_servers: Iterable[str] | None,
    seconds: float = RUN_SECONDS,
    *,
    is_approved: bool = False,
    skills: Skills | None = None,
    origin: Origin = Origin.AGENT_FILE,
) -> AgentProfile:
    """The profile of an agent of the manifest, or with None of the computer's default one; waits for the disk.

    `is_approved`: the owner has said yes to this very run. Errors: NotFound with the agents that there are, NotAllowed for what
    the user has to approve each time or never allowed.
    """
    config = agent_of(module, agent)
    if needs_owner(config) and not is_approved:
        raise NotAllowed(
            f"The agent {agent} of the module {module.name} runs only after the user has approved it each time.",
            key="approval_needed",
        )
    sandbox = config.sandbox
    mcp = tuple(name for name in module.manifest.permissions.mcp if not name.startswith("mcp__"))
    wanted = mcp if mcp_servers is None else _wanted(module.name, mcp_servers, mcp)
    warnings: list[tuple[str, str]] = []
    if sandbox is None and module.trust is Trust.UNTRUSTED:
        raise NotAllowed(
            f"The module {module.name} is not trusted, so that none of its agents runs without a sandbox.",
            "Only the owner can change that: by removing the module, and installing it again without --untrusted.",
            key="untrusted",
        )
    if sandbox is not None and sandbox.network == "bridge" and not services.settings.sandbox.hosts:
        warnings.append(
            (
                "No network",
                "There is no list of hosts that agents may reach (`sandbox.hosts`), so this one reaches none.",
            )
        )
    if sandbox is not None and module.trust is Trust.UNTRUSTED:
        warnings.append(
            ("Untrusted module", f"Agents of {module.name} get no files, no network and no tools of others.")
        )
    return AgentProfile(
        services=services,
        egress=egress,
        module=module,
        owner=Owner(module.name, agent or ""),
        config=config,
        sandbox=sandbox,
        mcp=(mcp, wanted),
        prompt=prompt_file(module, config.system_prompt) if config.system_prompt else services.prompts.default,
        warnings=tuple(warnings),
        seconds=seconds,
        skills=skills,
        origin=origin,
    )


def agent_of(module: ApprovedModule, agent: str | None) -> AgentConfig:
    """The agent of a manifest, or with None the computer's default one; error: NotFound with those that there are."""
    config = _default(module) if agent is None else module.manifest.agents.get(agent)
    if config is None:
        known = ", ".join(sorted(module.manifest.agents)) or "none"
        raise NotFound(
            f"The module {module.name} has no agent {str(agent)[:40]!r}; there are: {known}.", key="no_such_agent"
        )
    return config


def needs_owner(config: AgentConfig) -> bool:
    """True if each run of an agent begins with the owner's word."""
    return config.sandbox is None or config.requires_explicit_approval or config.requires_explicit_invocation


def profile_of_task(
    services: AgentServices, egress: Egress, module: ApprovedModule, task: Task, seconds: float = RUN_SECONDS
) -> AgentProfile:
    """The profile of a task: it reads what the module may read, writes nothing but its answer, and has no network.

    Error: NotAllowed for tools that the module may not use, and for a module that is not trusted.
    """
    if module.trust is Trust.UNTRUSTED:
        raise NotAllowed(
            f"The module {module.name} is not trusted, so its agents do not start by themselves.",
            key="module_not_trusted",
        )
    mcp = tuple(name for name in module.manifest.permissions.mcp if not name.startswith("mcp__"))
    sandbox = _readable(module)
    return AgentProfile(
        services=services,
        egress=egress,
        module=module,
        owner=Owner(module.name, task.agent),
        config=AgentConfig(sandbox=sandbox, capabilities=task.capabilities, system_prompt=task.path),
        sandbox=sandbox,
        mcp=(mcp, _wanted(module.name, task.mcp_tools, mcp)),
        prompt=task.prompt,
        seconds=seconds,
        own_tools=task.own_tools,
        origin=task.origin,
    )


def profile_of_own_task(
    services: AgentServices, egress: Egress, owner: Owner, task: Task, seconds: float = RUN_SECONDS
) -> AgentProfile:
    """The profile of a task of the computer itself: no files, no network, and no tools but those that the task brings."""
    sandbox = SandboxConfig()
    return AgentProfile(
        services=services,
        egress=egress,
        module=None,
        owner=owner,
        config=AgentConfig(sandbox=sandbox),
        sandbox=sandbox,
        mcp=((),),
        prompt=task.prompt,
        seconds=seconds,
        own_tools=task.own_tools,
        origin=task.origin,
    )


def _default(module: ApprovedModule) -> AgentConfig:
    return AgentConfig(sandbox=_readable(module), capabilities=_DEFAULT_TOOLS, bash=True)


def _readable(module: ApprovedModule) -> SandboxConfig:
    permissions = module.manifest.permissions
    paths = tuple(dict.fromkeys((*permissions.read, *permissions.write)))
    return SandboxConfig(workspace_access="ro" if paths else "none", allowed_paths=paths)


def _wanted(module: str, names: Iterable[str], allowed: tuple[str, ...]) -> tuple[str, ...]:
    found = tuple(names)
    for name in found:
        if not any(name == entry or (entry.endswith("*") and name.startswith(entry[:-1])) for entry in allowed):
            raise NotAllowed(
                f"mcp_servers: the module {module} may not use the tool {name[:60]!r}.",
                "Name it under permissions.mcp in manifest.yaml; the user sees it before installing.",
                key="tool_not_permitted",
            )
    return found


def _commands(bash: bool | tuple[str, ...]) -> tuple[str, ...] | None:
    return (None if bash else ()) if isinstance(bash, bool) else bash


def _egress_owner(session: str) -> str:
    return f"agent:{session}"
