"""Preparation of a person's turn: its folder, sandbox, tools, prompt, knowledge and warnings."""

import asyncio
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from parachute.base.chat_ids import group_of
from parachute.base.errors import NotAllowed
from parachute.chat.agent_processes.listed_tools import module_tool_listed
from parachute.chat.agent_processes.models import ServerTool
from parachute.chat.agent_processes.program_tools import PERSONS_TOOLS
from parachute.chat.agent_processes.tools import permitted
from parachute.chat.contexts.models import NO_CONTEXT, Chain, tokens_of
from parachute.chat.knowledge.service import Knowledge, KnowledgeService
from parachute.chat.network.service import Networks
from parachute.chat.permissions.models import SessionPermissions
from parachute.chat.prompts.answering_agents import AnsweringAgent
from parachute.chat.runs.capabilities import (
    NOTHING,
    CapabilityRequest,
    CapabilitySource,
    OfferedCapabilities,
    narrowed,
)
from parachute.chat.runs.events import PromptMetadata, RunWarning
from parachute.chat.runs.preparation import AgentServices, Preparation, ProposingTools, ReadingTools, TurnPlan, compose
from parachute.chat.runs.project import apply_of, project_folder, project_view
from parachute.chat.runs.request import TurnRequest
from parachute.chat.runs.run import Run
from parachute.chat.runs.run_warnings import warnings_of
from parachute.chat.sessions.models import Session
from parachute.chat.workspaces.models import Capabilities, Workspace, choice_of
from parachute.chat.workspaces.service import Workspaces
from parachute.config.settings.groups.agents import Apply
from parachute.core.decorators import SUGGEST_TOOL
from parachute.events.hooks.context import joined
from parachute.llm.gateway.endpoint import ModelEndpoint
from parachute.llm.gateway.limits import CHATS, GUESTS, guest_subject
from parachute.llm.gateway.models import Provider
from parachute.modules.runtime.models import OfferedTool
from parachute.sandbox.egress.models import NO_NETWORK, Network
from parachute.sandbox.engines.execution import Execution, Shown
from parachute.sandbox.engines.limits import NO_LIMITS
from parachute.security.permissions.actions import MODULE_SERVER, tool_listed
from parachute.security.trust_levels import TrustLevel

PRESET_CHARACTERS = 4_800
"""The program's own prompt for coding, about."""

_LOST = (
    "What this conversation may use was limited on another computer, or what was lost since. Until you say it anew it may use "
    "nothing: `parachute sessions permit ID`."
)


class _Turn(Struct, frozen=True):
    """A turn as it begins: `folder` is where its conversation works, `directory` what of it the conversation may use."""

    session: Session
    workspace: Workspace | None
    level: TrustLevel
    permissions: SessionPermissions
    folder: Path | None
    directory: Path | None
    endpoint: ModelEndpoint
    provider: Provider
    agent: AnsweringAgent | None
    choice: Capabilities


class PersonPreparation:
    """Prepares the turns of persons; without `capabilities` agents have only the tools of modules.

    `proposing` gives them the tool `suggest`, `reading` tools of upper wings where they may read files.
    """

    def __init__(
        self,
        services: AgentServices,
        workspaces: Workspaces,
        knowledge: KnowledgeService,
        networks: Networks,
        capabilities: CapabilitySource | None,
        proposing: ProposingTools | None,
        reading: ReadingTools | None,
    ) -> None:
        self._services = services
        self._workspaces = workspaces
        self._knowledge = knowledge
        self._networks = networks
        self._capabilities = capabilities
        self._proposing = proposing
        self._reading = reading

    async def prepare_run(self, run: Run, *, resume: bool) -> tuple[Preparation, Knowledge]:
        """Prepare a run and log its warnings and its prompt; errors: ParachuteError."""
        services, session = self._services, run.session
        workspace = await self._workspaces.of(session) if run.profile is None else None
        otherwise = choice_of(services.settings.default_capabilities.agents)
        self._workspaces.check_agent(workspace, session.agent_path, session.agent_name, otherwise)
        directory = await project_folder(services, session, workspace)
        if directory.problem:
            run.log.append(RunWarning("Folder not found", directory.problem))
        if await services.permissions.are_lost(session):
            run.log.append(RunWarning("Nothing allowed", _LOST))
        if run.profile is not None:
            preparation, knowledge = await run.profile.prepare(session, resume=resume), Knowledge()
        else:
            preparation, knowledge = await asyncio.gather(
                self.prepare(
                    session, run.request, directory.path, resume=resume, workspace=workspace, by_owner=run.by_owner
                ),
                self._known(session, run.request.message, directory.path),
            )
        run.is_direct, run.knows = preparation.execution.mode == "direct", bool(knowledge.text)
        for warning in await warnings_of(services, run, preparation):
            run.log.append(warning)
        if run.added:
            sources = (f"hook {each.hook}" for each in run.added if each.text)
            texts = filter(None, (joined(run.added), knowledge.text))
            knowledge = replace(knowledge, text="\n\n".join(texts), sources=(*sources, *knowledge.sources))
        run.log.append(prompt_metadata(preparation, knowledge, services.settings.trust_mode))
        return preparation, knowledge

    async def prepare(
        self,
        session: Session,
        request: TurnRequest | None,
        directory: Path | None,
        *,
        resume: bool,
        workspace: Workspace | None = None,
        by_owner: bool = False,
        selected: Sequence[str] | None = None,
        wakes: bool = True,
    ) -> Preparation:
        """Choose the sandbox, the tools and the prompt of a session; without a `request` nobody has asked yet.

        `selected` are contexts in place of those of the session; `wakes`: its sandbox is started meanwhile.
        """
        services = self._services
        turn = await self._begun(session, directory, workspace)
        agent, provider, permissions = turn.agent, turn.provider, turn.permissions
        commands, allowed_tools = (agent.commands, agent.tools) if agent else (None, None)
        asked = CapabilityRequest(session, turn.level, turn.choice, workspace, turn.directory, allowed_tools, agent)
        capabilities = None if provider.is_offline else self._capabilities
        offered = narrowed(await capabilities.offered(asked), permissions) if capabilities else NOTHING
        network, apply = await self._network(turn), apply_of(services, workspace)
        execution = await self._execution(turn, network, apply, offered, by_owner=by_owner)
        if wakes:
            # It starts while the prompt and the tools are composed.
            services.sandboxes.opened.wake(session.id)
        if capabilities and execution.mode != turn.level:
            # It falls back to run directly, where what nobody has approved steers nothing.
            offered = narrowed(await capabilities.offered(replace(asked, level=execution.mode)), permissions)
            offered = replace(offered, plugins=(), skills=(), names=replace(offered.names, skills=()))
        tools, notes = await self._tools(turn, execution, by_owner=by_owner)
        execution = replace(execution, warnings=(*execution.warnings, *offered.warnings))
        context = NO_CONTEXT
        if request is None or not request.system_prompt:
            context = await self._context(turn, execution, selected)
        prompt = partial(
            services.prompts.compose,
            execution,
            custom=request.system_prompt if request else None,
            agent=agent,
            directory=turn.directory,
            context=context,
            notes=notes,
        )
        tools += offered.tools
        plan = TurnPlan(
            session, resume, turn.endpoint, execution, provider, prompt, PERSONS_TOOLS, tools, commands, allowed_tools
        )
        preparation = await compose(
            services,
            replace(plan, is_persons=True, offered=offered, permissions=permissions, directory=directory),
        )
        refusal = partial(self._networks.refusal_of_page, session.id) if network.is_open else None
        return replace(preparation, is_reviewed=apply == "review", refusal_of_page=refusal)

    async def _begun(self, session: Session, folder: Path | None, workspace: Workspace | None) -> "_Turn":
        """Open the model endpoint of a turn, as far as the session may have one; errors: ParachuteError."""
        services = self._services
        level, permissions = await services.sessions.level(session), await services.permissions.of(session)
        if level == "direct":
            permissions.check_direct()
        directory = permissions.directory(folder, services.vault)
        agent, stays = await self._agent(session), workspace is not None and workspace.only_at_home
        wanted = session.model or (agent and agent.model) or (workspace.model if workspace else None)
        provider = services.gateway.upstream.chosen(wanted, stays=stays)
        endpoint = await services.gateway.open(
            session.id, searched=services.origins.went_out, wanted=wanted, stays=stays
        )
        endpoint.counts_for = _subject(session, workspace)
        defaults = services.settings.default_capabilities
        otherwise = Capabilities(*map(choice_of, (defaults.mcps, defaults.skills, defaults.agents, defaults.plugins)))
        return _Turn(
            session,
            workspace,
            level,
            permissions,
            folder,
            directory,
            endpoint,
            provider,
            agent,
            workspace.capabilities if workspace else otherwise,
        )

    async def _network(self, turn: "_Turn") -> Network:
        if turn.level == "direct" or turn.provider.is_offline:
            return NO_NETWORK
        return await self._networks.open(turn.session, turn.workspace, turn.endpoint.folder, turn.permissions.network)

    async def _execution(
        self, turn: "_Turn", network: Network, apply: Apply, offered: OfferedCapabilities, *, by_owner: bool
    ) -> Execution:
        """The sandbox of a turn, with the view of its project where it may write."""
        services, session, permissions, workspace = self._services, turn.session, turn.permissions, turn.workspace
        shown, view = shown_of(services, permissions, turn.folder), None
        if turn.level != "direct" and not shown.is_read_only:
            view = await project_view(services, session, apply, turn.directory)
        limits = permissions.limits(workspace.limits if workspace else NO_LIMITS, services.permissions.usual_limits())
        return await services.sandboxes.prepare(
            session,
            turn.level,
            turn.directory,
            turn.endpoint,
            limits,
            by_owner=by_owner and falls_back(permissions),
            network=network,
            view=view,
            shown=shown,
            cache=await services.origins.cache(services.home, session, turn.directory),
            plugins={plugin.name: plugin.folder for plugin in offered.plugins},
        )

    async def _tools(
        self, turn: "_Turn", execution: Execution, *, by_owner: bool
    ) -> tuple[tuple[OfferedTool, ...], tuple[str, ...]]:
        """The tools of modules and of the computer itself, and what the prompt says of the latter."""
        permissions, is_offline = turn.permissions, turn.provider.is_offline
        listed = turn.agent.tools if turn.agent else None
        tools = () if is_offline else permitted(self._services.tools.tools(), listed)
        tools, notes = permissions.offered(turn.choice.tools(tools)), tuple[str, ...]()
        if self._proposing is not None and (listed is None or module_tool_listed(SUGGEST_TOOL, listed)):
            suggest = self._proposing.suggest_tool(turn.session, tools, by_owner=by_owner)
            if suggest is not None and permissions.offers(suggest):
                tools, notes = (*tools, suggest), (suggest.prompt,)
        # They belong to Read, whatever a conversation may use of modules and servers.
        may_read = permissions.has_tool("Read") and (listed is None or tool_listed("Read", listed))
        if self._reading is not None and may_read and execution.mode == "sandboxed" and not is_offline:
            reading = await self._reading.tools(turn.session, execution)
            tools, notes = (*tools, *reading), (*notes, *(each.prompt for each in reading))
        return tools, notes

    async def _context(self, turn: "_Turn", execution: Execution, selected: Sequence[str] | None) -> Chain:
        """The contexts of a turn, `selected` in place of those of the session."""
        contexts = self._services.contexts
        selected = await contexts.selected(turn.session.id) if selected is None else selected
        found = await contexts.chain(selected, turn.directory, approved_only=execution.mode == "direct")
        # A file of a folder that is not left is told by nobody else either.
        return found.left(partial(turn.permissions.may_open, vault=self._services.vault, directory=turn.folder))

    async def _known(self, session: Session, message: str, directory: Path | None) -> Knowledge:
        """Return the modules' knowledge about a message, none where not all of their tools are left: it comes from any of them."""
        permissions = await self._services.permissions.of(session)
        if permissions.mcps is not None:
            return Knowledge()
        may_open = partial(permissions.may_open, vault=self._services.vault, directory=directory)
        return await self._knowledge.for_message(session.id, message, may_open)

    async def _agent(self, session: Session) -> AnsweringAgent | None:
        """The agent that answers in a session, if it is none of the computer's own; errors: NotFound, InvalidInput."""
        return await asyncio.to_thread(self._services.prompts.agent, session.agent_path) if session.agent_path else None

    async def close(self, session: str) -> None:
        """Give back what `prepare` opened for a session, before its model endpoint is closed."""
        await self._networks.close(session)


def shown_of(services: AgentServices, permissions: SessionPermissions, directory: Path | None) -> Shown:
    """Return the part of the vault that the sandbox of a conversation shows; `directory` is the folder in which it would work."""
    return Shown(permissions.vault_folders(services.vault, directory), permissions.is_read_only)


def falls_back(permissions: SessionPermissions) -> bool:
    """Return True if nothing is taken from a conversation that only a sandbox would hold."""
    try:
        permissions.check_direct()
    except NotAllowed:
        return False
    return True


def _subject(session: Session, workspace: Workspace | None) -> str:
    """For whom what a conversation uses counts."""
    if workspace is not None:
        return f"workspace:{workspace.slug}"
    if session.linked_bot_platform and session.linked_bot_chat_id:
        return guest_subject(session.linked_bot_platform, group_of(session.linked_bot_chat_id))
    return GUESTS if session.from_outside else CHATS


def prompt_metadata(preparation: Preparation, knowledge: Knowledge, trust_mode: bool) -> PromptMetadata:
    """The event that tells the app of a prompt; its numbers are an estimate."""
    prompt, names = preparation.prompt, preparation.offered.names
    tools = preparation.specification.module_tools
    own = (MODULE_SERVER,) if any(not isinstance(tool, ServerTool) for tool in tools) else ()
    preset, known = PRESET_CHARACTERS // 4 if prompt.preset else 0, tokens_of(knowledge.text)
    return PromptMetadata(
        prompt_source=prompt.source,
        prompt_source_path=prompt.source_path,
        context_files=[*prompt.context_files, *knowledge.sources],
        context_tokens=prompt.context_tokens + known,
        context_truncated=prompt.context_truncated,
        agent_name=prompt.agent_name,
        available_agents=list(names.agents),
        available_skills=list(names.skills),
        available_mcps=[*own, *names.mcps],
        base_prompt_tokens=preset + tokens_of(prompt.text[: prompt.base_characters]),
        total_prompt_tokens=preset + tokens_of(prompt.text) + known,
        trust_mode=trust_mode,
        working_directory_claude_md=prompt.working_directory_file,
        known_names=list(knowledge.names),
        known_entries=knowledge.entries,
    )
