"""The wing `automation`: suggestions, agents of modules, scheduled agents, maintenance, triage and the curator."""

from collections.abc import Awaitable, Callable

from msgspec import Struct

from parachute.automation.agent_requests.inbox import AgentRequestsSource
from parachute.automation.agent_requests.service import AgentRequests
from parachute.automation.curator.run import ReviewServices
from parachute.automation.curator.service import Curator
from parachute.automation.curator.store import ReviewStore
from parachute.automation.curator.target import ContextTarget
from parachute.automation.maintenance.service import Maintenance
from parachute.automation.memory.service import MemoryKeeping
from parachute.automation.module_agents.conversations import ModuleConversations
from parachute.automation.module_agents.service import ModuleAgents
from parachute.automation.questions.service import AgentQuestions
from parachute.automation.reminders.inbox import RemindersSource
from parachute.automation.reminders.service import Reminders
from parachute.automation.scheduled_agents.inbox import AgentsSource
from parachute.automation.scheduled_agents.service import ScheduledAgents
from parachute.automation.suggestions.inbox import SuggestionsSource
from parachute.automation.suggestions.own_memory import MEMORY, OwnMemory
from parachute.automation.suggestions.own_settings import SETTINGS, OwnSettings
from parachute.automation.suggestions.own_targets import CONTEXTS, CURATOR, DiskTarget
from parachute.automation.suggestions.restoring import Restoring
from parachute.automation.suggestions.service import Suggestions
from parachute.automation.suggestions.store import SuggestionStore
from parachute.automation.transcription.journal import JournalTexts
from parachute.automation.transcription.service import Transcriptions
from parachute.automation.transcription.store import TranscriptionStore
from parachute.automation.triage.service import Orchestrator
from parachute.capabilities.skills.service import Skills
from parachute.chat.imports.attached import AttachedFiles
from parachute.chat.imports.folders import ImportFolders
from parachute.chat.imports.service import Imports
from parachute.chat.sessions.importing import ImportedSessions
from parachute.events.bus.catalogue import SESSION_END
from parachute.events.hooks.memory_makers import HookMemory
from parachute.llm.gateway.questions import Questions
from parachute.modules.registry.inbox import ModulesSource
from parachute.server.composition.chat import ChatServices
from parachute.server.composition.events import EventServices
from parachute.server.composition.lifecycle import Lifecycle
from parachute.server.composition.llm import ModelServices
from parachute.server.composition.modules import ModuleServices, serve_modules
from parachute.server.composition.sandbox import SandboxServices
from parachute.server.composition.sessions import SessionServices
from parachute.server.composition.storage import Installation, Storage


class AutomationServices(Struct, frozen=True, kw_only=True):
    """Services that work without a person's message."""

    agent_requests: AgentRequests
    memory: MemoryKeeping
    maintenance: Maintenance
    questions: Questions
    hook_memory: HookMemory
    reminders: Reminders
    scheduled_agents: ScheduledAgents
    transcriptions: Transcriptions
    triage: Orchestrator
    curator: Curator


async def build_suggestions(
    installation: Installation,
    storage: Storage,
    events: EventServices,
    modules: ModuleServices,
    sessions: SessionServices,
) -> Suggestions:
    """Suggestions stand below runs, whose agents make some."""
    own: dict[str, DiskTarget] = {
        SETTINGS: OwnSettings(installation.home),
        MEMORY: OwnMemory(storage.vault.root, installation.home.root),
    }
    suggestions = Suggestions(
        SuggestionStore(storage.suggestions),
        modules.hosts,
        own,
        events.events,
        storage.audit,
        sessions.sessions.origin,
    )
    await suggestions.start()
    events.inbox.add(SuggestionsSource(suggestions), ModulesSource(installation.modules, modules.staged))
    return suggestions


async def build_automation(
    installation: Installation,
    storage: Storage,
    events: EventServices,
    llm: ModelServices,
    sandbox: SandboxServices,
    modules: ModuleServices,
    sessions: SessionServices,
    suggestions: Suggestions,
    skills: Skills,
    chat: ChatServices,
    brought: ImportedSessions,
    lifecycle: Lifecycle,
) -> AutomationServices:
    """Start the modules with the agents that they may run, and then the jobs of every day."""
    maintenance = Maintenance(chat.agents, installation.modules, suggestions, sessions.trust.owner)
    await maintenance.start()
    asking = AgentQuestions(chat.agents, chat.pool)
    await asking.start()
    questions = Questions(llm.gateway, asking)
    agents = ModuleAgents(chat.agents, chat.runs, sandbox.egress, modules.hosts.origins, skills=skills)
    conversations = ModuleConversations(
        sessions.sessions, chat.runs, modules.hosts.origins, chat.workspaces.stays_at_home
    )
    minutes, clock = installation.settings.agents.approval_minutes, installation.clock
    requests = AgentRequests(agents, modules.hosts, events.events, storage.audit, minutes=minutes, clock=clock)
    lifecycle.closing(requests.close)
    imports = await lifecycle.start(_imports(storage, modules, chat, brought))
    serve_modules(
        installation, storage, events, modules, suggestions, requests, conversations, imports, llm.meaning, lifecycle
    )
    scheduled_agents, triage = await _build_scheduled(
        installation, storage, events, llm, modules, sessions, suggestions, agents, lifecycle
    )
    reminders = Reminders(installation.home.root, clock, events.inbox.changed)
    events.inbox.add(AgentsSource(scheduled_agents), AgentRequestsSource(requests), RemindersSource(reminders))
    curator = await _build_curator(
        installation, storage, events, llm, sessions, suggestions, chat, agents, scheduled_agents, lifecycle
    )
    await lifecycle.start(chat.watching)
    await lifecycle.start(events.scheduler)
    own_memory = OwnMemory(storage.vault.root, installation.home.root)
    return AutomationServices(
        agent_requests=requests,
        memory=MemoryKeeping(sessions.sessions, suggestions, own_memory, storage.audit),
        maintenance=maintenance,
        questions=questions,
        hook_memory=HookMemory(events.hooks, questions.reason_unavailable),
        reminders=reminders,
        scheduled_agents=scheduled_agents,
        transcriptions=await _build_transcriptions(installation, storage, events, modules, chat, lifecycle),
        triage=triage,
        curator=curator,
    )


def _imports(storage: Storage, modules: ModuleServices, chat: ChatServices, brought: ImportedSessions) -> Imports:
    return Imports(
        AttachedFiles(storage.vault, ImportFolders(storage.vault), brought.transcripts),
        brought,
        storage.audit,
        Restoring(SuggestionStore(storage.suggestions)).bring,
        chat.changes.lineage,
        modules.hosts.requests,
        modules.interfaces,
    )


def _has_tools(llm: ModelServices) -> Callable[[], bool]:
    """Return what tells whether the model of this moment uses tools."""
    return lambda: llm.gateway.upstream.provider.name != "offline"


def _spent(llm: ModelServices) -> Callable[[str], Awaitable[float]]:
    """Return what tells the dollars that a conversation has cost."""

    async def spent(session: str) -> float:
        return (await llm.gateway.used_by(session)).dollars

    return spent


async def _build_scheduled(
    installation: Installation,
    storage: Storage,
    events: EventServices,
    llm: ModelServices,
    modules: ModuleServices,
    sessions: SessionServices,
    suggestions: Suggestions,
    agents: ModuleAgents,
    lifecycle: Lifecycle,
) -> tuple[ScheduledAgents, Orchestrator]:
    """Start what runs agents once a day."""
    scheduled_agents = await lifecycle.start(
        ScheduledAgents(
            installation.home,
            storage.vault.root,
            modules.hosts,
            agents,
            sessions.sessions,
            events.events,
            events.scheduler,
            suggestions,
            _has_tools(llm),
            _spent(llm),
        )
    )
    triage = await lifecycle.start(
        Orchestrator(
            installation.settings.orchestrator,
            suggestions,
            agents,
            scheduled_agents.store,
            sessions.sessions,
            events.scheduler,
            _has_tools(llm),
        )
    )
    return scheduled_agents, triage


async def _build_curator(
    installation: Installation,
    storage: Storage,
    events: EventServices,
    llm: ModelServices,
    sessions: SessionServices,
    suggestions: Suggestions,
    chat: ChatServices,
    agents: ModuleAgents,
    scheduled_agents: ScheduledAgents,
    lifecycle: Lifecycle,
) -> Curator:
    """Start what reviews contexts after conversations."""
    reviews = ReviewStore(storage.sessions)
    suggestions.add_target(CONTEXTS, ContextTarget(storage.vault, chat.changes, installation.settings.changes, reviews))
    settings = installation.settings.curator
    reviewing = ReviewServices(
        suggestions,
        agents,
        scheduled_agents.store,
        sessions.sessions,
        chat.contexts,
        chat.watching,
        chat.agents.origins,
        _has_tools(llm),
        settings.mode == "write",
        chat.workspaces.stays_at_home,
    )
    curator = await lifecycle.start(
        Curator(
            settings,
            reviewing,
            reviews,
            events.hooks,
            events.switch,
            installation.clock,
            lambda: bool(chat.runs.active()),
        )
    )
    events.events.register(CURATOR, curator.conversation_ended)
    await events.events.add_subscriber(f"core:{CURATOR}", [SESSION_END], CURATOR)
    return curator


async def _build_transcriptions(
    installation: Installation,
    storage: Storage,
    events: EventServices,
    modules: ModuleServices,
    chat: ChatServices,
    lifecycle: Lifecycle,
) -> Transcriptions:
    """Start what makes texts of recordings."""
    return await lifecycle.start(
        Transcriptions(
            installation.home,
            storage.vault,
            TranscriptionStore(storage.events),
            JournalTexts(storage.vault, modules.interfaces),
            events.events,
            lambda: bool(chat.runs.active()),
            lambda identifier: events.feed.changed("voice", identifier),
            installation.clock,
        )
    )
