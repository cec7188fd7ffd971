"""The wing `chat`: workspaces, agent processes, runs, and what was said elsewhere."""

from functools import partial

from msgspec import Struct

from parachute.changes.service import Changes
from parachute.chat.agent_processes.models import ModuleTools
from parachute.chat.agent_processes.options import prepare_files
from parachute.chat.agent_processes.pool import AgentPool
from parachute.chat.claude_code_import.history import History
from parachute.chat.claude_code_import.service import ClaudeCode
from parachute.chat.contexts.service import Contexts
from parachute.chat.contexts.store import SelectionStore
from parachute.chat.contexts.watching import Watching
from parachute.chat.knowledge.service import KnowledgeService
from parachute.chat.permissions.service import Permissions
from parachute.chat.runs.active import ActiveRuns
from parachute.chat.runs.admission import Admission
from parachute.chat.runs.branching import Branching
from parachute.chat.runs.changes_inbox import ChangesSource
from parachute.chat.runs.inbox import RunsSource
from parachute.chat.runs.inspection import SandboxInspection
from parachute.chat.runs.interrupted import InterruptedAnswers
from parachute.chat.runs.person_preparation import PersonPreparation
from parachute.chat.runs.postponed import PostponedCalls
from parachute.chat.runs.preparation import AgentServices, ProposingTools, ReadingTools
from parachute.chat.runs.preview import PromptPreview
from parachute.chat.runs.prewarming import Prewarming
from parachute.chat.runs.service import Runs
from parachute.chat.runs.store import RunStore
from parachute.chat.runs.turn import TurnServices
from parachute.chat.runs.turn_store import TurnStore
from parachute.chat.runs.turns import Turns
from parachute.chat.sessions.copying import Beginnings
from parachute.chat.sessions.ending import SessionEnding
from parachute.chat.sessions.importing import ImportedSessions
from parachute.chat.workspaces.service import Workspaces
from parachute.events.feed.service import Feed
from parachute.sandbox.engines.memory import TotalMemory
from parachute.server.composition.capabilities import CapabilityServices
from parachute.server.composition.changes import ChangeServices
from parachute.server.composition.events import EventServices
from parachute.server.composition.lifecycle import Lifecycle
from parachute.server.composition.llm import ModelServices
from parachute.server.composition.modules import ModuleServices
from parachute.server.composition.networks import NetworkServices
from parachute.server.composition.sandbox import SandboxServices
from parachute.server.composition.sessions import SessionServices
from parachute.server.composition.storage import Installation, Storage


class ChatServices(Struct, frozen=True, kw_only=True):
    """Everything of conversations that runs; `agents` prepare agents, also those of other wings."""

    agents: AgentServices
    preparation: PersonPreparation
    runs: Runs
    turns: Turns
    interrupted: InterruptedAnswers
    prewarming: Prewarming
    workspaces: Workspaces
    pool: AgentPool
    changes: Changes
    inspection: SandboxInspection
    contexts: Contexts
    watching: Watching
    permissions: Permissions
    preview: PromptPreview


class HistoryServices(Struct, frozen=True, kw_only=True):
    """Conversations from elsewhere, and the ends of those from here."""

    claude_code: ClaudeCode
    brought: ImportedSessions


async def build_chat(
    installation: Installation,
    storage: Storage,
    events: EventServices,
    llm: ModelServices,
    sandbox: SandboxServices,
    modules: ModuleServices,
    sessions: SessionServices,
    capabilities: CapabilityServices,
    networks: NetworkServices,
    tools: ModuleTools,
    proposing: ProposingTools,
    reading: ReadingTools,
    changes: ChangeServices,
    active: ActiveRuns,
    lifecycle: Lifecycle,
) -> ChatServices:
    """Start what answers messages; `tools` are those that modules offer to agents, `proposing` the computer's own for persons."""
    home, settings, vault, clock = installation.home, installation.settings, storage.vault, installation.clock
    workspaces = await _start_workspaces(installation, storage, sandbox, sessions)
    knowledge = KnowledgeService(modules.interfaces, sandbox.sandboxes.check_directory, vault.root)
    lifecycle.closing(knowledge.close)
    memory = TotalMemory(home, settings.sandbox)
    pool = await lifecycle.start(AgentPool(settings.agents, prepare_files(home), tools, memory, clock))
    begin_anew = partial(active.begin_anew, pool)
    permissions = Permissions(
        home, vault, settings, sessions.sessions, workspaces, networks.networks, tools, begin_anew
    )
    agents = _build_agents(
        installation, storage, llm, sandbox, modules, sessions, capabilities, permissions, tools, changes
    )
    preparation = PersonPreparation(
        agents, workspaces, knowledge, networks.networks, capabilities.offered, proposing, reading
    )
    prewarming = Prewarming(agents, preparation, pool, knowledge, clock)
    beginnings = Beginnings(vault, sessions.sessions.transcripts)
    branching = Branching(sessions.sessions, agents.contexts, beginnings)
    admission = Admission(agents, workspaces, events.hooks, branching)
    postponed = PostponedCalls(clock)
    turns = Turns(TurnStore(storage.runs), agents.changes.history, networks.networks)
    turn = TurnServices(agents, preparation, pool, events.events, storage.audit, events.inbox, turns, postponed, clock)
    stored, changed = RunStore(storage.runs), partial(_run_changed, events.feed, changes.watching, active)
    runs = await lifecycle.start(Runs(turn, stored, admission, prewarming, active, changed))
    events.inbox.add(RunsSource(runs), ChangesSource(agents.changes, sessions.sessions))
    return ChatServices(
        agents=agents,
        preparation=preparation,
        runs=runs,
        turns=turns,
        interrupted=InterruptedAnswers(runs, stored, sessions.sessions),
        prewarming=prewarming,
        workspaces=workspaces,
        pool=pool,
        changes=agents.changes,
        inspection=SandboxInspection(agents, workspaces, networks.networks, runs),
        contexts=agents.contexts,
        watching=changes.watching,
        permissions=permissions,
        preview=PromptPreview(agents, preparation, workspaces, admission, runs),
    )


async def _start_workspaces(
    installation: Installation, storage: Storage, sandbox: SandboxServices, sessions: SessionServices
) -> Workspaces:
    workspaces = Workspaces(
        storage.vault,
        sessions.workspaces,
        sessions.sessions,
        sandbox.sandboxes.check_project,
        installation.modules.declared.all,
        installation.settings.network.presets,
    )
    await workspaces.start()
    return workspaces


def _run_changed(feed: Feed, watching: Watching, active: ActiveRuns, session: str) -> None:
    """A run has begun or ended, and may have changed files."""
    feed.changed("runs", session)
    if session not in active:
        watching.look_soon()


def _build_agents(
    installation: Installation,
    storage: Storage,
    llm: ModelServices,
    sandbox: SandboxServices,
    modules: ModuleServices,
    sessions: SessionServices,
    capabilities: CapabilityServices,
    permissions: Permissions,
    tools: ModuleTools,
    changes: ChangeServices,
) -> AgentServices:
    """Build the services from which every agent is prepared."""
    home, settings, vault = installation.home, installation.settings, storage.vault
    approved = modules.approved_prompts.is_approved
    return AgentServices(
        home,
        settings,
        vault,
        sessions.sessions,
        llm.gateway,
        sandbox.sandboxes,
        capabilities.prompts,
        tools,
        changes.changes,
        Contexts(vault, SelectionStore(storage.sessions), changes.changes.instructions, approved),
        permissions,
        changes.origins,
    )


async def build_history(
    installation: Installation,
    storage: Storage,
    events: EventServices,
    sandbox: SandboxServices,
    sessions: SessionServices,
    chat: ChatServices,
    lifecycle: Lifecycle,
) -> HistoryServices:
    """Start what brings conversations from elsewhere, and what tells that one has ended."""
    settings, vault = installation.settings, storage.vault
    claude_code = ClaudeCode(History(), vault, sessions.sessions, sandbox.sandboxes, events.hooks)
    await claude_code.start()
    brought = ImportedSessions(sessions.sessions, sessions.store)
    idle = settings.session_idle_minutes
    await lifecycle.start(SessionEnding(sessions.endings, events.events, idle, chat.runs.is_active, installation.clock))
    return HistoryServices(claude_code=claude_code, brought=brought)
