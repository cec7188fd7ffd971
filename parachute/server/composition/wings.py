"""Every wing, each built from those below it: the whole order in which the server begins."""

from functools import partial

from msgspec import Struct
from msgspec.structs import fields

from parachute.automation.suggestions.chats import ChatSuggestions
from parachute.automation.suggestions.service import Suggestions
from parachute.automation.suggestions.tools import AgentTools
from parachute.automation.tasks.service import Tasks
from parachute.base.services import ServiceRegistry
from parachute.chat.runs.active import ActiveRuns
from parachute.chat.runs.run import PersonsAgent
from parachute.chat.sessions.models import AppListener
from parachute.files.arriving import ArrivingFiles
from parachute.files.pages.service import WebPages
from parachute.files.search import FileSearch
from parachute.files.service import VaultFiles
from parachute.files.sync.arriving import ArrivingVersions
from parachute.files.sync.service import VaultSync
from parachute.modules.registry.models import RunningModules
from parachute.modules.registry.scopes import KnownScopes
from parachute.ops.doctor.examiner import Examiner
from parachute.security.audit.decisions import Decisions
from parachute.security.audit.reads import Reads
from parachute.security.keys.browser_sessions import BrowserSessions
from parachute.security.keys.models import ScopeNames
from parachute.security.kill_switch.service import KillSwitchService
from parachute.server.composition.automation import AutomationServices, build_automation, build_suggestions
from parachute.server.composition.capabilities import CapabilityServices, build_capabilities
from parachute.server.composition.changes import build_changes
from parachute.server.composition.chat import ChatServices, HistoryServices, build_chat, build_history
from parachute.server.composition.connectors import ConnectorServices, build_connectors
from parachute.server.composition.events import EventServices, build_events
from parachute.server.composition.files import build_files, build_tasks
from parachute.server.composition.kill_switch import build_kill_switch
from parachute.server.composition.lifecycle import Lifecycle
from parachute.server.composition.llm import ModelServices, build_llm
from parachute.server.composition.messengers import MessengerServices, build_messengers
from parachute.server.composition.modules import ModuleServices, build_modules, outside
from parachute.server.composition.networks import NetworkServices, build_networks
from parachute.server.composition.ops import OpsServices, build_examiner, build_ops
from parachute.server.composition.sandbox import SandboxServices, build_sandbox
from parachute.server.composition.sessions import SessionServices, build_sessions
from parachute.server.composition.storage import Installation, Storage, open_storage
from parachute.server.composition.tls import build_tls
from parachute.web.tls.service import Tls


class _Below(Struct, frozen=True, kw_only=True):
    """The wings that conversations stand on."""

    storage: Storage
    refused: Decisions
    reads: Reads
    events: EventServices
    examiner: Examiner
    tls: Tls
    llm: ModelServices
    sessions: SessionServices
    sandbox: SandboxServices
    modules: ModuleServices


class _Conversations(Struct, frozen=True, kw_only=True):
    """The wings that answer, and those that agents use for it."""

    suggestions: Suggestions
    capabilities: CapabilityServices
    networks: NetworkServices
    messengers: MessengerServices
    chat: ChatServices
    history: HistoryServices


class _Above(Struct, frozen=True, kw_only=True):
    """The wings that use conversations."""

    automation: AutomationServices
    connectors: ConnectorServices
    files: tuple[VaultFiles, ArrivingFiles, FileSearch, VaultSync, ArrivingVersions, WebPages]
    tasks: Tasks
    ops: OpsServices
    switch: KillSwitchService


async def build_wings(installation: Installation, services: ServiceRegistry, lifecycle: Lifecycle) -> None:
    """Start everything; every service of a wing can be asked for by routes."""
    browsers, active = services.get(BrowserSessions), ActiveRuns()
    lifecycle.finishing(installation.keys.close)
    lifecycle.finishing(browsers.close)
    below = await _build_below(installation, active, lifecycle)
    conversations = await _build_conversations(installation, below, active, lifecycle)
    above = await _build_above(installation, below, conversations, browsers, lifecycle)
    _offer(installation, services, below, conversations, above)


async def _build_below(installation: Installation, active: ActiveRuns, lifecycle: Lifecycle) -> _Below:
    storage = await open_storage(installation, lifecycle)
    refused = Decisions(storage.audit, "anonymous", "anonymous", "refused_key")
    reads = Reads(storage.audit)
    lifecycle.finishing(refused.flush)
    lifecycle.finishing(reads.flush)
    events = await build_events(installation, storage, lifecycle)
    examiner = build_examiner(installation, events, lifecycle)
    tls = await build_tls(installation, events.scheduler, lifecycle)
    login_changed = partial(examiner.soon, ["credentials"])
    llm = await build_llm(installation, storage, events, lambda: bool(active), login_changed, lifecycle)
    sessions = await build_sessions(storage, events, llm.meaning, lifecycle)
    sandbox = await build_sandbox(installation, storage, events, lifecycle)
    return _Below(
        storage=storage,
        refused=refused,
        reads=reads,
        events=events,
        examiner=examiner,
        tls=tls,
        llm=llm,
        sessions=sessions,
        sandbox=sandbox,
        modules=build_modules(installation, storage, events, sandbox),
    )


async def _build_conversations(
    installation: Installation, below: _Below, active: ActiveRuns, lifecycle: Lifecycle
) -> _Conversations:
    storage, events, sandbox = below.storage, below.events, below.sandbox
    modules, sessions = below.modules, below.sessions
    suggestions = await build_suggestions(installation, storage, events, modules, sessions)
    changes = await build_changes(installation, storage, events, modules, sessions)
    tools = AgentTools(modules.hosts, suggestions, sessions.trust.owner, changes.origins.answering)
    writes = installation.settings.suggestions.from_chats == "write"
    capabilities = await build_capabilities(installation, storage, events, sandbox, sessions, modules, tools, lifecycle)
    networks = await build_networks(installation, storage, events, sandbox, changes.origins.went_out)
    messengers = build_messengers(installation, storage, events, sandbox)
    chat = await build_chat(
        installation,
        storage,
        events,
        below.llm,
        sandbox,
        modules,
        sessions,
        capabilities,
        networks,
        tools,
        ChatSuggestions(modules.hosts, suggestions, sessions.sessions, writes=writes),
        messengers.sending,
        changes,
        active,
        lifecycle,
    )
    return _Conversations(
        suggestions=suggestions,
        capabilities=capabilities,
        networks=networks,
        messengers=messengers,
        chat=chat,
        history=await build_history(installation, storage, events, sandbox, sessions, chat, lifecycle),
    )


async def _build_above(
    installation: Installation,
    below: _Below,
    conversations: _Conversations,
    browsers: BrowserSessions,
    lifecycle: Lifecycle,
) -> _Above:
    storage, events, llm, sandbox = below.storage, below.events, below.llm, below.sandbox
    chat, history, suggestions = conversations.chat, conversations.history, conversations.suggestions
    capabilities, messengers = conversations.capabilities, conversations.messengers
    automation = await build_automation(
        installation,
        storage,
        events,
        llm,
        sandbox,
        below.modules,
        below.sessions,
        suggestions,
        capabilities.skills,
        chat,
        history.brought,
        lifecycle,
    )
    connectors = await build_connectors(
        installation,
        storage,
        events,
        llm,
        sandbox,
        below.sessions,
        messengers,
        chat,
        automation,
        conversations.networks,
        browsers,
        lifecycle,
    )
    files = await build_files(installation, storage, events, llm, sandbox, chat, lifecycle)
    tasks = build_tasks(installation, storage, events, files[0])
    ops = await build_ops(
        installation, storage, events, below.examiner, llm, chat, history, suggestions, browsers, lifecycle
    )
    below.modules.mcp_endpoint.start(outside(below.sessions, suggestions))
    below.modules.hosts.after_changes.append(ops.examiner.modules_changed)
    switch = await build_kill_switch(
        installation,
        events,
        llm,
        sandbox,
        chat,
        conversations.networks.networks,
        capabilities.mcp_servers,
        connectors,
        automation.transcriptions,
        automation.curator,
        lifecycle,
    )
    return _Above(automation=automation, connectors=connectors, files=files, tasks=tasks, ops=ops, switch=switch)


def _offer(
    installation: Installation, services: ServiceRegistry, below: _Below, conversations: _Conversations, above: _Above
) -> None:
    """Let routes ask for everything."""
    storage, chat, automation = below.storage, conversations.chat, above.automation
    services.add_as(PersonsAgent, automation.maintenance)
    services.add_as(AppListener, chat.prewarming)
    services.add_as(RunningModules, below.modules.hosts)
    services.add_as(ScopeNames, KnownScopes(installation.home.root))
    services.add(storage.audit, storage.recovery, storage.watch, below.refused, below.reads, below.tls)
    services.add(
        below.sessions.sessions, below.sessions.versions, conversations.suggestions, *above.files, above.switch
    )
    services.add(above.tasks)
    wings: tuple[Struct, ...] = (below.events, below.llm, below.sandbox, below.modules, conversations.capabilities)
    wings += (conversations.networks, chat, conversations.history, automation, above.connectors, above.ops)
    for wing in wings:
        services.add(*(getattr(wing, field.name) for field in fields(wing)))
