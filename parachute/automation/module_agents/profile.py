"""What one agent of one module is given: folders, hosts, tools, commands and a prompt."""

import asyncio
import dataclasses
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from parachute.agents.models import AgentSpecification, OwnTool
from parachute.agents.tools import permitted, shown_names
from parachute.core.agents import AgentConfig, SandboxConfig, memory_bytes
from parachute.egress.service import Egress
from parachute.errors import NotAllowed, NotFound
from parachute.hosts.models import ApprovedModule
from parachute.module_agents.folders import Places
from parachute.module_agents.prompt import describe_box, prompt_file
from parachute.module_agents.task import Task
from parachute.modules.models import Trust
from parachute.permissions.policy import Policy
from parachute.prompts.service import Prompt
from parachute.runs.preparation import Preparation, Services
from parachute.sandbox.limits import Limits
from parachute.sandbox.places import EGRESS_SOCKET
from parachute.sessions.models import Owner, Session
from parachute.suggestions.tools import suggest_tool

RUN_SECONDS = 15 * 60.0

_DEFAULT_TOOLS = ("Read", "Write", "Edit", "Glob", "Grep")
# Nobody sees the question of such an agent; there is no screen to use in a box, and no skills; and the program asks a host
# of its own before it fetches a page.
_NEVER = frozenset({"AskUserQuestion", "Computer", "Skill", "WebFetch"})
_OWN_PROCESSES = 128
"""Processes and threads of the agent's program itself, which `pids_limit` does not count."""
_MOST_PROCESSES = 1024
_OWN_MEGABYTES = 512
"""Memory of the agent's program, which the manifest's `memory` does not count: a conversation takes half of it."""


@dataclass(slots=True)
class AgentProfile:
    """Prepares the turns of one agent; `owner` is who it is, `box` what the user agreed to.

    A tool of a module has to be on each of the lists in `mcp`. `module` is None for an agent of the computer itself, and
    `own_tools` gives the tools that only this run has.
    """

    services: Services
    egress: Egress
    module: ApprovedModule | None
    owner: Owner
    config: AgentConfig
    box: SandboxConfig
    mcp: tuple[tuple[str, ...], ...]
    prompt: str
    warnings: tuple[tuple[str, str], ...] = ()
    seconds: float = RUN_SECONDS
    own_tools: Callable[[str], tuple[OwnTool, ...]] | None = None

    async def prepare(self, session: Session, *, resume: bool) -> Preparation:
        """Open the lines, prepare the box and compose what the agent is told; errors: ParachuteError."""
        services, box = self.services, self.box
        given = await asyncio.to_thread(
            self._places().given,
            box.allowed_paths if box.workspace_access != "none" else (),
            writable=box.workspace_access == "rw",
        )
        mounts, hosts = given.sorted(), self._hosts()
        line = await services.gateway.open(session.id)
        if hosts:
            await self.egress.open(_egress_owner(session.id), hosts, line.folder / EGRESS_SOCKET, kind="agent")
        limits = Limits(
            memory_megabytes=(memory_bytes(box.memory) >> 20) + _OWN_MEGABYTES,
            cpus=box.cpus,
            processes=min(_MOST_PROCESSES, box.pids_limit + _OWN_PROCESSES),
        )
        execution = await services.sandboxes.confine(session.id, line, mounts, egress=bool(hosts), limits=limits)
        left_out = tuple(("Left out", sentence) for sentence in given.left_out)
        execution = dataclasses.replace(execution, warnings=(*self.warnings, *left_out))
        provider = services.gateway.provider
        offline = provider.name == "offline"
        tools = (
            ()
            if offline
            else tuple(tool for tool in self._tools() if tool != "WebSearch" or provider.name == "anthropic")
        )
        module_tools = () if offline else services.tools.tools()
        for listed in self.mcp:
            module_tools = permitted(module_tools, listed)
        if interfaces := {name.partition("@")[0] for name in self.config.allowed_interfaces}:
            module_tools = tuple(tool for tool in module_tools if interfaces & set(tool.interfaces))
        if self.config.can_suggest and not offline:
            module_tools = (*module_tools, suggest_tool(self.config.can_suggest))
        if self.own_tools is not None and not offline:
            module_tools = (*module_tools, *self.own_tools(session.id))
        policy = Policy(
            level="sandboxed",
            vault=services.vault.root,
            home=services.home.root,
            working_directory=Path(execution.directory),
            allowed_commands=_commands(self.config.bash),
            allowed_tools=(*tools, *shown_names(module_tools)),
            mcp_tools=shown_names(module_tools),
            mapped_roots=dict(execution.roots),
        )
        text = f"{self.prompt}\n\n# Where you are\n{describe_box(mounts, hosts)} {policy.describe()}"
        prompt = Prompt(
            text,
            source="module" if self.config.system_prompt else "default",
            source_path=self.config.system_prompt or None,
            agent_name=self.owner.agent or None,
            base_characters=len(self.prompt),
        )
        specification = AgentSpecification(
            session=session.id,
            resume=resume,
            execution=execution,
            line=line,
            system_prompt=text,
            tools=tools,
            model=provider.model or session.model or services.settings.model,
            asks_questions=False,
            module_tools=module_tools,
        )
        return Preparation(execution, prompt, policy, specification, provider)

    async def finish(self, session: str) -> None:
        """Close the way to the network."""
        await self.egress.close(_egress_owner(session))

    def _tools(self) -> tuple[str, ...]:
        bash = ("Bash",) if self.config.bash else ()
        named = (tool for tool in self.config.capabilities if tool not in _NEVER and tool != "Bash")
        return tuple(dict.fromkeys((*named, *bash)))

    def _hosts(self) -> tuple[str, ...]:
        if self.box.network == "bridge":
            return tuple(self.services.settings.sandbox.hosts)
        return self.box.network if isinstance(self.box.network, tuple) else ()

    def _places(self) -> Places:
        services = self.services
        return Places(
            vault=services.vault.root.resolve(),
            trust=services.home.root.resolve(),
            projects=tuple(services.settings.project_folders),
            check_directory=services.sandboxes.check_directory,
        )


def profile_of(
    services: Services,
    egress: Egress,
    module: ApprovedModule,
    agent: str | None,
    mcp_servers: Iterable[str] | None,
    seconds: float = RUN_SECONDS,
) -> AgentProfile:
    """The profile of an agent of the manifest, or with None of the computer's default one; waits for the disk.

    Errors: NotFound with the agents that there are, NotAllowed for what the user has to approve each time or never allowed.
    """
    config = _default(module) if agent is None else module.manifest.agents.get(agent)
    if config is None:
        known = ", ".join(sorted(module.manifest.agents)) or "none"
        raise NotFound(f"The module {module.name} has no agent {str(agent)[:40]!r}; there are: {known}.")
    box = config.sandbox
    if box is None or config.requires_explicit_approval or config.requires_explicit_invocation:
        raise NotAllowed(
            f"The agent {agent} of the module {module.name} runs only after the user has approved it each time.",
            "There is no way yet to ask the user for that: give the agent a sandbox in the manifest, and leave "
            "requires_explicit_approval and requires_explicit_invocation out.",
        )
    mcp = tuple(name for name in module.manifest.permissions.mcp if not name.startswith("mcp__"))
    wanted = mcp if mcp_servers is None else _wanted(module.name, mcp_servers, mcp)
    warnings: list[tuple[str, str]] = []
    if box.network == "bridge" and not services.settings.sandbox.hosts:
        warnings.append(
            (
                "No network",
                "There is no list of hosts that agents may reach (`sandbox.hosts`), so this one reaches none.",
            )
        )
    if module.trust is Trust.UNTRUSTED:
        # Otherwise its agents would be the way around what shuts the module itself in.
        box = dataclasses.replace(box, workspace_access="none", allowed_paths=(), network="none")
        mcp = wanted = ()
        warnings.append(
            ("Untrusted module", f"Agents of {module.name} get no files, no network and no tools of others.")
        )
    return AgentProfile(
        services=services,
        egress=egress,
        module=module,
        owner=Owner(module.name, agent or ""),
        config=config,
        box=box,
        mcp=(mcp, wanted),
        prompt=prompt_file(module, config.system_prompt) if config.system_prompt else services.prompts.default,
        warnings=tuple(warnings),
        seconds=seconds,
    )


def profile_of_task(
    services: Services, egress: Egress, module: ApprovedModule, task: Task, seconds: float = RUN_SECONDS
) -> AgentProfile:
    """The profile of a task: it reads what the module may read, writes nothing but its answer, and has no network.

    Error: NotAllowed for tools that the module may not use, and for a module that is not trusted.
    """
    if module.trust is Trust.UNTRUSTED:
        raise NotAllowed(f"The module {module.name} is not trusted, so that its agents do not run by themselves.")
    mcp = tuple(name for name in module.manifest.permissions.mcp if not name.startswith("mcp__"))
    box = _readable(module)
    return AgentProfile(
        services=services,
        egress=egress,
        module=module,
        owner=Owner(module.name, task.agent),
        config=AgentConfig(sandbox=box, capabilities=task.capabilities, system_prompt=task.path),
        box=box,
        mcp=(mcp, _wanted(module.name, task.mcp_tools, mcp)),
        prompt=task.prompt,
        seconds=seconds,
        own_tools=task.own_tools,
    )


def profile_of_own_task(
    services: Services, egress: Egress, owner: Owner, task: Task, seconds: float = RUN_SECONDS
) -> AgentProfile:
    """The profile of a task of the computer itself: no files, no network, and no tools but those that the task brings."""
    box = SandboxConfig()
    return AgentProfile(
        services=services,
        egress=egress,
        module=None,
        owner=owner,
        config=AgentConfig(sandbox=box),
        box=box,
        mcp=((),),
        prompt=task.prompt,
        seconds=seconds,
        own_tools=task.own_tools,
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
            )
    return found


def _commands(bash: bool | tuple[str, ...]) -> tuple[str, ...] | None:
    return (None if bash else ()) if isinstance(bash, bool) else bash


def _egress_owner(session: str) -> str:
    return f"agent:{session}"
