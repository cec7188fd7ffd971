"""The wings `chat` and `capabilities`: sessions, workspaces, agent processes, runs, agents, skills, and MCP servers."""

from dataclasses import dataclass
from functools import partial
from pathlib import Path

from parachute.automation.suggestions.restoring import Restoring
from parachute.automation.suggestions.store import SuggestionStore
from parachute.capabilities.agents.inbox import AgentsSource
from parachute.capabilities.agents.service import Agents
from parachute.capabilities.agents.store import AgentStore
from parachute.capabilities.mcp_servers.inbox import McpServersSource
from parachute.capabilities.mcp_servers.service import McpServers
from parachute.capabilities.offered.service import ConversationCapabilities
from parachute.capabilities.plugins.brought import brought_agents, brought_skills
from parachute.capabilities.plugins.inbox import PluginsSource
from parachute.capabilities.plugins.library import Library
from parachute.capabilities.plugins.service import Plugins
from parachute.capabilities.skills.inbox import SkillsSource
from parachute.capabilities.skills.runtime_plugin import RuntimePlugins
from parachute.capabilities.skills.service import Skills
from parachute.capabilities.skills.store import SkillStore
from parachute.changes.service import Changes
from parachute.chat.agent_processes.models import ModuleTools
from parachute.chat.agent_processes.options import prepare_files
from parachute.chat.agent_processes.pool import AgentPool
from parachute.chat.claude_code_import.history import History
from parachute.chat.claude_code_import.service import ClaudeCode
from parachute.chat.contexts.service import Contexts
from parachute.chat.contexts.store import SelectionStore
from parachute.chat.contexts.watch_store import WatchStore
from parachute.chat.contexts.watching import Watching
from parachute.chat.imports.folders import ImportFolders
from parachute.chat.imports.service import Imports
from parachute.chat.knowledge.service import KnowledgeService
from parachute.chat.network.inbox import HostsSource
from parachute.chat.network.service import Networks
from parachute.chat.network.store import HostDecisions
from parachute.chat.origins.service import Origins
from parachute.chat.permissions.service import Permissions
from parachute.chat.prompts.inbox import PromptsSource
from parachute.chat.prompts.service import Prompts
from parachute.chat.repositories.inbox import RepositoriesSource
from parachute.chat.repositories.service import Repositories
from parachute.chat.repositories.store import RepositoryDecisions
from parachute.chat.runs.admission import Admission
from parachute.chat.runs.changes_inbox import ChangesSource
from parachute.chat.runs.inbox import RunsSource
from parachute.chat.runs.inspection import SandboxInspection
from parachute.chat.runs.interrupted import InterruptedAnswers
from parachute.chat.runs.person_preparation import PersonPreparation
from parachute.chat.runs.postponed import PostponedCalls
from parachute.chat.runs.preparation import AgentServices, ProposingTools
from parachute.chat.runs.preview import PromptPreview
from parachute.chat.runs.prewarming import Prewarming
from parachute.chat.runs.service import Runs
from parachute.chat.runs.store import RunStore
from parachute.chat.runs.turn import TurnServices
from parachute.chat.sessions.ending import SessionEnding
from parachute.chat.sessions.endings import Endings
from parachute.chat.sessions.importing import ImportedSessions
from parachute.chat.sessions.meaning import ConversationMeanings
from parachute.chat.sessions.rebuilding import Rebuilding
from parachute.chat.sessions.service import Sessions
from parachute.chat.sessions.store import SessionStore
from parachute.chat.sessions.transcripts import Transcripts
from parachute.chat.sessions.trust_store import TrustStore
from parachute.chat.workspaces.service import Workspaces
from parachute.chat.workspaces.store import WorkspaceStore
from parachute.llm.meaning.service import MeaningIndex
from parachute.sandbox.egress.certificates import Certificates
from parachute.sandbox.engines.memory import TotalMemory
from parachute.sandbox.git.tokens import Tokens
from parachute.server.composition.events import EventServices
from parachute.server.composition.lifecycle import Lifecycle
from parachute.server.composition.llm import ModelServices
from parachute.server.composition.modules import ModuleServices
from parachute.server.composition.sandbox import SandboxServices
from parachute.server.composition.storage import Installation, Storage


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionServices:
    """Sessions, and the stores that belong to them."""

    sessions: Sessions
    store: SessionStore
    trust: TrustStore
    workspaces: WorkspaceStore


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatServices:
    """Everything of conversations that runs; `agents` prepare agents, also those of other wings."""

    agents: AgentServices
    preparation: PersonPreparation
    runs: Runs
    interrupted: InterruptedAnswers
    prewarming: Prewarming
    workspaces: Workspaces
    pool: AgentPool
    mcp_servers: McpServers
    plugins: Plugins
    own_agents: Agents
    skills: Skills
    networks: Networks
    repositories: Repositories
    changes: Changes
    inspection: SandboxInspection
    claude_code: ClaudeCode
    contexts: Contexts
    watching: Watching
    permissions: Permissions
    preview: PromptPreview
    imports: Imports
    brought: ImportedSessions


async def give_meanings(sessions: SessionServices, meaning: MeaningIndex, lifecycle: Lifecycle) -> None:
    """Let conversations be found by what they mean."""
    sessions.sessions.listing.by_meaning = await lifecycle.start(ConversationMeanings(sessions.store, meaning))


async def build_sessions(storage: Storage, events: EventServices, lifecycle: Lifecycle) -> SessionServices:
    """Read the sessions; a list that was lost is rebuilt from the transcripts while the server runs."""
    store, trust, workspaces = SessionStore(storage.sessions), TrustStore(storage.trust), WorkspaceStore(storage.trust)
    await workspaces.load()
    sessions = Sessions(storage.vault, store, trust, Transcripts(storage.vault), events.events, workspaces)
    await sessions.start()
    if storage.sessions.path.name in storage.replaced or not await store.is_rebuilt():
        await lifecycle.start(Rebuilding(sessions, store, trust))
    return SessionServices(sessions=sessions, store=store, trust=trust, workspaces=workspaces)


async def build_chat(
    installation: Installation,
    storage: Storage,
    events: EventServices,
    llm: ModelServices,
    sandbox: SandboxServices,
    modules: ModuleServices,
    sessions: SessionServices,
    tools: ModuleTools,
    proposing: ProposingTools,
    lifecycle: Lifecycle,
) -> ChatServices:
    """Start what answers messages; `tools` are those that modules offer to agents, `proposing` the computer's own for persons."""
    home, settings, vault, clock = installation.home, installation.settings, storage.vault, installation.clock
    sandboxes = sandbox.sandboxes
    declared = installation.modules.declared.all
    workspaces = Workspaces(
        vault, sessions.workspaces, sessions.sessions, sandboxes.check_project, declared, settings.network.presets
    )
    await workspaces.start()
    knowledge = KnowledgeService(modules.interfaces, sandboxes.check_directory, vault.root)
    lifecycle.closing(knowledge.close)
    pool = AgentPool(settings.agents, prepare_files(home), tools, TotalMemory(home, settings.sandbox), clock)
    is_approved = modules.approved_prompts.is_approved
    user_home = Path.home() if settings.capabilities.read_home else None
    library = Library(home, user_home)
    mcp_servers = await lifecycle.start(
        McpServers(home, settings, sandbox.egress, tools, storage.audit, library, clock)
    )
    mcp_servers.on_change(events.inbox.changed, lambda name: events.feed.changed("mcps", name))
    plugins = await lifecycle.start(Plugins(library, mcp_servers.catalog, storage.audit, events.inbox.changed))
    await lifecycle.start(pool)
    found_agents = AgentStore(vault, modules.approved_prompts, user_home, sandboxes.check_directory)
    found_skills = SkillStore(vault, home.root, user_home, clock)
    runtime_plugins = RuntimePlugins(home.runtime_plugins, found_skills.read, sandboxes.opened.mounted, clock)
    own_agents = Agents(found_agents, storage.audit, events.inbox.changed, partial(brought_agents, library))
    skills = Skills(
        found_skills, runtime_plugins, storage.audit, events.inbox.changed, partial(brought_skills, library)
    )
    prompts = Prompts(vault, modules.prompts.kind, is_approved, found_agents)
    watching = Watching(vault, WatchStore(storage.sessions), events.file_watcher, clock)

    def waiting_changed() -> None:
        events.inbox.changed()
        watching.look_soon()

    changes = Changes(settings.changes, home.changes, storage.changes, waiting_changed, clock)
    await changes.start()
    contexts = Contexts(vault, SelectionStore(storage.sessions), changes.instructions, is_approved)
    origins = Origins(vault, sessions.sessions, changes, modules.hosts, modules.interfaces)
    modules.hosts.answering = origins.answering
    sandbox.egress.went_out = llm.gateway.application.searched = origins.went_out
    decisions, decided = HostDecisions(storage.trust), RepositoryDecisions(storage.trust)
    await decisions.load()
    await decided.load()
    repositories = Repositories(
        sandbox.egress,
        decided,
        Tokens(home.root),
        Certificates(settings.git.ca_file),
        storage.audit,
        events.inbox.changed,
    )
    networks = Networks(settings.network, sandbox.egress, decisions, repositories, storage.audit, events.inbox.changed)
    permissions = Permissions(home, vault, settings, sessions.sessions, workspaces, networks, tools)
    agents = AgentServices(
        home,
        settings,
        vault,
        sessions.sessions,
        llm.gateway,
        sandboxes,
        prompts,
        tools,
        changes,
        contexts,
        permissions,
        origins,
    )
    capabilities = ConversationCapabilities(mcp_servers, own_agents, skills, plugins)
    preparation = PersonPreparation(agents, workspaces, knowledge, networks, capabilities, proposing)
    prewarming = Prewarming(agents, preparation, pool, knowledge, clock)
    admission = Admission(agents, workspaces, events.hooks)
    turn = TurnServices(
        agents, preparation, pool, events.events, storage.audit, events.inbox, PostponedCalls(clock), clock
    )
    stored = RunStore(storage.runs)
    runs = await lifecycle.start(Runs(turn, stored, admission, prewarming))
    permissions.changed = runs.begin_anew
    events.inbox.add(
        RunsSource(runs), McpServersSource(mcp_servers), HostsSource(networks), RepositoriesSource(repositories)
    )
    events.inbox.add(PromptsSource(vault, modules.approved_prompts), ChangesSource(changes, sessions.sessions))
    events.inbox.add(PluginsSource(plugins))
    events.inbox.add(AgentsSource(own_agents), SkillsSource(skills))

    def run_changed(session: str) -> None:
        events.feed.changed("runs", session)
        if not runs.is_active(session):
            watching.look_soon()

    runs.changed = run_changed
    claude_code = ClaudeCode(History(), vault, sessions.sessions, sandboxes, events.hooks)
    await claude_code.start()
    brought = ImportedSessions(sessions.sessions, sessions.store)
    restoring = Restoring(SuggestionStore(storage.suggestions))
    imports = await lifecycle.start(
        Imports(ImportFolders(vault), brought, storage.audit, restoring.bring, changes.lineage)
    )
    ending = SessionEnding(
        Endings(storage.sessions), events.events, settings.session_idle_minutes, runs.is_active, clock
    )
    sessions.sessions.closed = (await lifecycle.start(ending)).session_closed
    return ChatServices(
        agents=agents,
        preparation=preparation,
        runs=runs,
        interrupted=InterruptedAnswers(runs, stored, sessions.sessions),
        prewarming=prewarming,
        workspaces=workspaces,
        pool=pool,
        mcp_servers=mcp_servers,
        plugins=plugins,
        own_agents=own_agents,
        skills=skills,
        networks=networks,
        repositories=repositories,
        changes=changes,
        inspection=SandboxInspection(agents, workspaces, networks, runs),
        claude_code=claude_code,
        contexts=contexts,
        watching=watching,
        permissions=permissions,
        preview=PromptPreview(agents, preparation, workspaces, admission, runs),
        imports=imports,
        brought=brought,
    )
