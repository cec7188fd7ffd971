"""The wing `automation`: suggestions, agents of modules, scheduled agents, maintenance, triage and the curator."""

from dataclasses import dataclass

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
from parachute.automation.scheduled_agents.inbox import AgentsSource
from parachute.automation.scheduled_agents.service import ScheduledAgents
from parachute.automation.suggestions.inbox import SuggestionsSource
from parachute.automation.suggestions.own_memory import MEMORY, OwnMemory
from parachute.automation.suggestions.own_settings import SETTINGS, OwnSettings
from parachute.automation.suggestions.own_targets import CONTEXTS, CURATOR, DiskTarget
from parachute.automation.suggestions.service import Suggestions
from parachute.automation.suggestions.store import SuggestionStore
from parachute.automation.transcription.journal import JournalTexts
from parachute.automation.transcription.service import Transcriptions
from parachute.automation.transcription.store import TranscriptionStore
from parachute.automation.triage.service import Orchestrator
from parachute.chat.sessions.meaning import CONVERSATIONS
from parachute.events.bus.service import SESSION_END
from parachute.llm.meaning.full_text import FILES
from parachute.modules.registry.inbox import ModulesSource
from parachute.modules.runtime.core_api import collection_of
from parachute.server.composition.chat import ChatServices, SessionServices
from parachute.server.composition.events import EventServices
from parachute.server.composition.lifecycle import Lifecycle
from parachute.server.composition.llm import ModelServices
from parachute.server.composition.modules import ModuleServices, serve_modules
from parachute.server.composition.sandbox import SandboxServices
from parachute.server.composition.storage import Installation, Storage


@dataclass(frozen=True, slots=True, kw_only=True)
class AutomationServices:
    """Services that work without a person's message."""

    agent_requests: AgentRequests
    memory: MemoryKeeping
    maintenance: Maintenance
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
    chat: ChatServices,
    lifecycle: Lifecycle,
) -> AutomationServices:
    """Start the modules with the agents that they may run, and then the jobs of every day."""
    maintenance = Maintenance(chat.agents, installation.modules, suggestions, sessions.trust.owner)
    await maintenance.start()
    llm.questions.agent = questions = AgentQuestions(chat.agents, chat.pool)
    await questions.start()
    events.hooks.without_model = llm.questions.reason_unavailable
    agents = ModuleAgents(chat.agents, chat.runs, sandbox.egress, modules.hosts.origins, skills=chat.skills)
    conversations = ModuleConversations(sessions.sessions, chat.runs, modules.hosts.origins)
    requests = AgentRequests(
        agents,
        modules.hosts,
        events.events,
        storage.audit,
        minutes=installation.settings.agents.approval_minutes,
        clock=installation.clock,
    )
    lifecycle.closing(requests.close)
    serve_modules(installation, storage, events, modules, suggestions, requests, conversations, llm.meaning, lifecycle)
    llm.meaning.is_busy = lambda: bool(chat.runs.running())
    llm.meaning.collections = lambda: [
        CONVERSATIONS,
        FILES,
        *(collection_of(each.name) for each in installation.modules.installed()),
    ]

    def has_tools() -> bool:
        return llm.gateway.upstream.provider.name != "offline"

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
            has_tools,
        )
    )
    events.inbox.add(AgentsSource(scheduled_agents), AgentRequestsSource(requests))
    triage = await lifecycle.start(
        Orchestrator(
            installation.settings.orchestrator,
            suggestions,
            agents,
            scheduled_agents.store,
            sessions.sessions,
            events.scheduler,
            has_tools,
        )
    )
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
        has_tools,
        settings.mode == "write",
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
    await lifecycle.start(chat.watching)
    await lifecycle.start(events.scheduler)
    memory = MemoryKeeping(
        sessions.sessions, suggestions, OwnMemory(storage.vault.root, installation.home.root), storage.audit
    )
    transcriptions = await lifecycle.start(
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
    return AutomationServices(
        agent_requests=requests,
        memory=memory,
        maintenance=maintenance,
        scheduled_agents=scheduled_agents,
        transcriptions=transcriptions,
        triage=triage,
        curator=curator,
    )
