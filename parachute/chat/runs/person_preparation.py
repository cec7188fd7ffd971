"""Preparation of a person's turn: its folder, sandbox, tools, prompt, knowledge and warnings."""

import asyncio
import shlex
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from msgspec.structs import replace

from parachute.base.errors import NotAllowed
from parachute.chat.agent_processes.listed_tools import module_tool_listed
from parachute.chat.agent_processes.models import ServerTool
from parachute.chat.agent_processes.program_tools import PERSONS_TOOLS
from parachute.chat.agent_processes.tools import permitted
from parachute.chat.contexts.models import NO_CONTEXT, tokens_of
from parachute.chat.knowledge.service import Knowledge, KnowledgeService
from parachute.chat.network.service import Networks
from parachute.chat.permissions.models import SessionPermissions
from parachute.chat.prompts.answering_agents import AnsweringAgent
from parachute.chat.runs.capabilities import NOTHING, CapabilityRequest, CapabilitySource, LeftOut, narrowed
from parachute.chat.runs.events import PromptMetadata, RunWarning
from parachute.chat.runs.preparation import AgentServices, Preparation, ProposingTools, ReadingTools, TurnPlan, compose
from parachute.chat.runs.project import apply_of, project_folder, project_view
from parachute.chat.runs.request import TurnRequest
from parachute.chat.runs.run import Run
from parachute.chat.sessions.models import Session
from parachute.chat.workspaces.models import Capabilities, Workspace, choice_of
from parachute.chat.workspaces.service import Workspaces
from parachute.core.decorators import SUGGEST_TOOL
from parachute.events.hooks.context import joined
from parachute.llm.gateway.limits import CHATS, GUESTS, guest_subject
from parachute.sandbox.egress.models import NO_NETWORK
from parachute.sandbox.engines.execution import Shown
from parachute.sandbox.engines.limits import NO_LIMITS
from parachute.security.permissions.actions import MODULE_SERVER, tool_listed

PRESET_CHARACTERS = 4_800
"""The program's own prompt for coding, about."""

_LOST = (
    "What this conversation may use was limited on another computer, or what was lost since. Until you say it anew it may use "
    "nothing: `parachute sessions permit ID`."
)

_LEFT_OUT = "instructions_left_out"
_WITHOUT_CONTEXT = "contexts_missing"
_CAPABILITIES_LEFT_OUT = "capabilities_left_out"


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
        for warning in await self._warnings(run, preparation):
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
        level, permissions = await services.sessions.level(session), await services.permissions.of(session)
        if level == "direct":
            permissions.check_direct()
        own, directory = directory, permissions.directory(directory, services.vault)
        endpoint = await services.gateway.open(session.id, searched=services.origins.went_out)
        endpoint.counts_for = _subject(session, workspace)
        limits = permissions.limits(workspace.limits if workspace else NO_LIMITS, services.permissions.usual_limits())
        provider = services.gateway.upstream.provider
        agent = await self._agent(session)
        commands, allowed_tools = (agent.commands, agent.tools) if agent else (None, None)
        defaults = services.settings.default_capabilities
        otherwise = Capabilities(*map(choice_of, (defaults.mcps, defaults.skills, defaults.agents, defaults.plugins)))
        choice = workspace.capabilities if workspace else otherwise
        asked = CapabilityRequest(session, level, choice, workspace, directory, allowed_tools, agent)
        capabilities = None if provider.is_offline else self._capabilities
        offered = narrowed(await capabilities.offered(asked), permissions) if capabilities else NOTHING
        network = NO_NETWORK
        if level != "direct" and not provider.is_offline:
            network = await self._networks.open(session, workspace, endpoint.folder, permissions.network)
        apply, shown = apply_of(services, workspace), shown_of(services, permissions, own)
        view = None
        if level != "direct" and not shown.is_read_only:
            view = await project_view(services, session, apply, directory)
        execution = await services.sandboxes.prepare(
            session,
            level,
            directory,
            endpoint,
            limits,
            by_owner=by_owner and falls_back(permissions),
            network=network,
            view=view,
            shown=shown,
            cache=await services.origins.cache(services.home, session, directory),
            plugins={plugin.name: plugin.folder for plugin in offered.plugins},
        )
        if wakes:
            # It starts while the prompt and the tools are composed.
            services.sandboxes.opened.wake(session.id)
        if capabilities and execution.mode != level:
            # It falls back to run directly, where what nobody has approved steers nothing.
            offered = narrowed(await capabilities.offered(replace(asked, level=execution.mode)), permissions)
            offered = replace(offered, plugins=(), skills=(), names=replace(offered.names, skills=()))
        module_tools = () if provider.is_offline else permitted(services.tools.tools(), allowed_tools)
        module_tools = permissions.offered(choice.tools(module_tools))
        notes: tuple[str, ...] = ()
        if self._proposing is not None and (allowed_tools is None or module_tool_listed(SUGGEST_TOOL, allowed_tools)):
            suggest = self._proposing.suggest_tool(session, module_tools, by_owner=by_owner)
            if suggest is not None and permissions.offers(suggest):
                module_tools, notes = (*module_tools, suggest), (suggest.prompt,)
        # They belong to Read, whatever a conversation may use of modules and servers.
        may_read = permissions.has_tool("Read") and (allowed_tools is None or tool_listed("Read", allowed_tools))
        if self._reading is not None and may_read and execution.mode == "sandboxed" and not provider.is_offline:
            reading = await self._reading.tools(session, execution)
            module_tools, notes = (*module_tools, *reading), (*notes, *(each.prompt for each in reading))
        module_tools += offered.tools
        execution = replace(execution, warnings=(*execution.warnings, *offered.warnings))
        context = NO_CONTEXT
        if request is None or not request.system_prompt:
            selected = await services.contexts.selected(session.id) if selected is None else selected
            context = await services.contexts.chain(selected, directory, approved_only=execution.mode == "direct")
            # A file of a folder that is not left is told by nobody else either.
            context = context.left(partial(permissions.may_open, vault=services.vault, directory=own))
        prompt = partial(
            services.prompts.compose,
            execution,
            custom=request.system_prompt if request else None,
            agent=agent,
            directory=directory,
            context=context,
            notes=notes,
        )
        plan = TurnPlan(
            session, resume, endpoint, execution, provider, prompt, PERSONS_TOOLS, module_tools, commands, allowed_tools
        )
        model = (agent and agent.model) or (workspace.model if workspace else None)
        preparation = await compose(
            services,
            replace(plan, is_persons=True, model=model, offered=offered, permissions=permissions, directory=own),
        )
        refusal = partial(self._networks.refusal_of_page, session.id) if network.is_open else None
        return replace(preparation, is_reviewed=apply == "review", refusal_of_page=refusal)

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

    async def _warnings(self, run: Run, preparation: Preparation) -> list[RunWarning]:
        found = list(preparation.execution.warnings)
        found += ((f"Hook {each.hook}", each.notice) for each in run.added if each.notice)
        if run.request.level == "direct" and preparation.execution.mode == "sandboxed":
            found.append(("Sandboxed", "The workspace of this conversation keeps it in a sandbox."))
        differences = self._services.sandboxes.opened.take_differences(run.session.id)
        found += (("Sandbox not as asked", sentence) for sentence in differences)
        wanted, provider = run.request.model, preparation.provider
        if wanted and provider.model and wanted != provider.model:
            found.append(("Model", f"{wanted} is not used: {provider.model} answers, as the settings say."))
        if unknown := sorted(run.request.model_extra or ()):
            names = ", ".join(name[:40] for name in unknown[:5]) + (", …" if len(unknown) > 5 else "")
            found.append(("Unknown fields", f"The message has unknown fields: {names}."))
        empty = [attachment.file_name for attachment in run.request.attachments if attachment.base64_data is None]
        if empty:
            found.append(("Attachment without content", f"The app sent only the name of {', '.join(empty)}."))
        if provider.is_offline and self._services.settings.provider == "auto" and run.is_new:
            found.append(
                (
                    "Offline model",
                    "No credentials for Claude are configured, so a small model on this computer answers, often wrongly. "
                    "`parachute auth login` connects Claude, or a server such as Ollama with --base-url.",
                )
            )
        found += await self._left_out(run.session, preparation.prompt.left_out)
        found += (
            ("Context", sentence) for sentence in self._services.contexts.sorted_out(run.request.chosen_contexts)[1]
        )
        new = await self._is_new(run.session, _WITHOUT_CONTEXT, preparation.prompt.problems)
        found += (("Context", sentence) for sentence in preparation.prompt.problems if new)
        found += await self._capabilities_left_out(run.session, preparation.offered.left_out)
        return [RunWarning(title, message) for title, message in found]

    async def _left_out(self, session: Session, names: list[str]) -> list[tuple[str, str]]:
        """Warnings about files without approval, in the first turn and when they change."""
        if not await self._is_new(session, _LEFT_OUT, names):
            return []
        return [
            (
                "Instructions left out",
                f"{name} is not approved for direct conversations, so this one continues without it. "
                f"`parachute prompts approve {shlex.quote(name)}` shows it, and asks.",
            )
            for name in names
        ]

    async def _is_new(self, session: Session, key: str, said: list[str]) -> bool:
        """Remember what was said of a session; False if it was said before."""
        if said == session.metadata.get(key, []):
            return False
        session.metadata[key] = said
        await self._services.sessions.save(session)
        return True

    async def _capabilities_left_out(self, session: Session, left_out: Sequence[LeftOut]) -> list[tuple[str, str]]:
        """Warnings about agents and skills without approval, in the first turn and when they change."""
        names = [f"{each.kind} {each.name}" for each in left_out]
        if not await self._is_new(session, _CAPABILITIES_LEFT_OUT, names):
            return []
        return [
            (
                f"{each.kind.title()} left out",
                f"The {each.kind} {each.name} is not approved for direct conversations, so this one continues "
                f"without it. `{each.command} {each.name}` shows it, and asks.",
            )
            for each in left_out
        ]


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
        return guest_subject(session.linked_bot_platform, session.linked_bot_chat_id)
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
