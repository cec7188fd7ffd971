"""The application: every part made once, in the order in which they need each other, and nothing else."""

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Iterable
from pathlib import Path
from typing import Any

from fastapi import APIRouter, FastAPI

from parachute import __version__
from parachute.addresses import is_loopback
from parachute.agents.options import prepare_files
from parachute.agents.pool import AgentPool
from parachute.audit.decisions import Decisions
from parachute.audit.middleware import AuditMiddleware
from parachute.audit.service import Audit
from parachute.base.unfinished import remove_unfinished
from parachute.claude_code.history import History
from parachute.claude_code.service import ClaudeCode
from parachute.contexts.service import Contexts
from parachute.database import Database
from parachute.egress.service import Egress
from parachute.errors import ParachuteError
from parachute.events import store as event_store
from parachute.events.service import Events
from parachute.first_boot.service import FirstBoot
from parachute.gateway.credentials import CredentialSource
from parachute.gateway.questions import Questions
from parachute.gateway.service import Gateway
from parachute.gateway.store import UsageStore, create_usage
from parachute.hooks.service import Hooks
from parachute.hosts.core_api import CoreApi
from parachute.hosts.interfaces import Interfaces
from parachute.hosts.proxy import ALIASES, OWN, ModuleProxy
from parachute.hosts.service import Hosts
from parachute.hosts.watching import VaultChanges
from parachute.image.service import Builds
from parachute.keys.cli_token import CliToken
from parachute.keys.service import Keys
from parachute.maintenance.service import Maintenance
from parachute.mcp_servers.service import McpServers
from parachute.module_agents.conversations import ModuleConversations
from parachute.module_agents.kinds import ModulePrompts
from parachute.module_agents.service import ModuleAgents
from parachute.modules.keeping import DeclaredModules
from parachute.modules.service import Modules
from parachute.orchestrator.service import Orchestrator
from parachute.panic.brake import Brake
from parachute.panic.service import EmergencyStop
from parachute.prompts.approvals import ApprovedPrompts
from parachute.prompts.service import Prompts
from parachute.recovery.service import Recovery
from parachute.runs import store as run_store
from parachute.runs.looking import Looks
from parachute.runs.preparation import Services
from parachute.runs.service import Runs
from parachute.sandbox.memory import TotalMemory
from parachute.sandbox.service import Sandboxes
from parachute.scheduled_agents.service import ScheduledAgents
from parachute.scheduler.service import Scheduler
from parachute.sessions import migrations
from parachute.sessions.ending import SessionEnding
from parachute.sessions.rebuilding import Rebuilding
from parachute.sessions.service import Sessions
from parachute.sessions.store import SessionStore
from parachute.sessions.transcripts import Transcripts
from parachute.sessions.trust_store import TrustStore
from parachute.settings.home import Home
from parachute.settings.models import Settings
from parachute.status.api import router as status_routes
from parachute.suggestions import store as suggestion_store
from parachute.suggestions.own_settings import OwnSettings
from parachute.suggestions.service import Suggestions
from parachute.suggestions.tools import AgentTools
from parachute.supervisor import control
from parachute.supervisor.credentials import Credentials
from parachute.vault.service import Vault
from parachute.watching.service import VaultWatcher
from parachute.web.access import AccessMiddleware
from parachute.web.body_limit import LARGEST_KEPT, BodyLimitMiddleware
from parachute.web.errors import install_error_handlers
from parachute.web.late_routes import LateRoutes
from parachute.web.startup import StartupMiddleware
from parachute.workspaces.service import Workspaces
from parachute.workspaces.store import WorkspaceStore, create_workspaces

_PAGE_SIZE = 1024
"""Bytes; a turn changes a handful of small rows, and every changed page is written whole. Lists of very many sessions
are slower with small pages, so that theirs are twice as large."""

_BODY_LIMIT = 2 * 1024 * 1024
"""Bytes; 100,000 characters of a message are up to 1.2 MB when every one is escaped."""

_MESSAGE_LIMIT = LARGEST_KEPT
"""Bytes of a message with its attachments, which travel as base64."""

_UPLOAD_LIMIT = 512 * 1024 * 1024
"""Bytes that a module may be sent, such as a long recording: they are passed on, never kept."""

_LIMITS = {
    "/api": _UPLOAD_LIMIT,
    **{f"/api/{name}": _BODY_LIMIT for name in OWN - ALIASES.keys()},
    # Only the message itself; what is said to a running turn has the limit of everything else.
    "/api/chat": _MESSAGE_LIMIT,
    "/api/chat/": _BODY_LIMIT,
}


def create(home: Home, settings: Settings, credentials: Credentials) -> FastAPI:
    """The application for one installation; error: ParachuteError if it would be open to strangers."""
    app = _Application(
        title="Parachute Computer",
        version=__version__,
        lifespan=_lifespan,
        docs_url=None,
        redoc_url=None,
        # Nothing is told to anybody, whatever the environment says.
        telemetry={"tracing": False, "metrics": False, "logs": False, "auto_configure": False},
    )
    keys = Keys(home.root)
    app.state.home = home
    app.state.settings = settings
    app.state.credentials = credentials
    app.state.keys = keys
    app.state.first_boot = FirstBoot(home.root, keys)
    app.include_router(status_routes)
    app.state.modules = Modules(home, settings.vault)
    app.state.late_routes = LateRoutes(app, _late_routers, app.router.default)
    app.router.default = app.state.late_routes
    install_error_handlers(app)
    # The last one added is the outermost: nothing is read or recorded before it is known who asks. The first one keeps
    # requests for modules from being compared with every route of core.
    app.add_middleware(ModuleProxy, state=app.state)
    app.add_middleware(AuditMiddleware, state=app.state)
    app.add_middleware(BodyLimitMiddleware, limit=_BODY_LIMIT, limits=_LIMITS)
    app.add_middleware(StartupMiddleware, state=app.state)
    app.add_middleware(
        AccessMiddleware,
        keys=keys,
        cli_token=CliToken(home.root),
        auth_mode=settings.auth_mode,
        bind=settings.host,
        hostnames=settings.hostnames,
        origins=settings.origins,
        trusted_proxies=settings.trusted_proxies,
        awaits_set_up=_awaits_set_up(app.state.first_boot, settings.host),
        refused=lambda address: _note_refused(app.state, address),
    )
    return app


def _note_refused(state: Any, address: str) -> None:
    if decisions := getattr(state, "refused_keys", None):
        decisions.record(f"from {address}", "wrong_key")


def _awaits_set_up(first_boot: FirstBoot, host: str) -> bool:
    try:
        return not is_loopback(host) and first_boot.is_open
    except ParachuteError:
        return False  # then the start fails where others could reach a computer without keys


class _Application(FastAPI):
    def openapi(self) -> dict[str, Any]:
        from parachute.hosts.openapi import paths
        from parachute.web.description import described

        self.state.late_routes.read()
        schema = super().openapi()
        hosts: Hosts | None = getattr(self.state, "hosts", None)
        offered = paths(hosts.routes()) if hosts is not None else {}
        # What modules offer changes; FastAPI keeps what it has made.
        return described({**schema, "paths": {**schema["paths"], **offered}})


def _late_routers() -> Iterable[APIRouter]:
    from parachute.routes import ROUTERS

    return ROUTERS


@contextlib.asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncIterator[None]:
    try:
        async with _running(app):
            yield
    except ParachuteError as error:
        app.state.failure = error
        raise


@contextlib.asynccontextmanager
async def _running(app: FastAPI) -> AsyncIterator[None]:
    state = app.state
    home: Home = state.home
    settings: Settings = state.settings
    vault = Vault(settings.vault)
    vault.prepare()
    async with contextlib.AsyncExitStack() as stack:
        stack.callback(state.keys.close)
        collecting = asyncio.create_task(
            asyncio.to_thread(remove_unfinished, _written(home, vault), time.time()), name="unfinished files"
        )
        stack.callback(collecting.cancel)
        audit = Audit(vault.state / "audit")
        audit.start()
        stack.push_async_callback(audit.close)
        state.refused_keys = Decisions(audit, "anonymous", "anonymous", "refused_key")
        stack.callback(state.refused_keys.flush)
        databases = [
            Database(vault.state / "sessions.db", migrations.ALL, page_size=2 * _PAGE_SIZE),
            Database(vault.state / "runs.db", run_store.ALL, page_size=run_store.PAGE_SIZE),
            Database(vault.state / "events.db", event_store.ALL),
            Database(vault.state / "suggestions.db", suggestion_store.ALL),
            Database(home.trust_database, (create_usage, *migrations.TRUST, create_workspaces), page_size=_PAGE_SIZE),
        ]
        recovery = Recovery(home.root)
        stack.push_async_callback(recovery.close)
        for database in databases:
            stack.push_async_callback(database.close)
        replaced = await recovery.open(databases)
        recovery.start()
        recovery.watch_keys(state.keys.store.path, are_gone=state.keys.are_gone)
        state.recovery = recovery
        sessions_database, runs_database, events_database, suggestions_database, trust_database = databases
        transcripts = Transcripts(vault)
        session_store = SessionStore(sessions_database)
        events = Events(audit, event_store.EventStore(events_database))
        await events.start()
        hooks = Hooks(home, vault.root, audit)
        stack.push_async_callback(hooks.close)
        await hooks.start(events)
        stack.push_async_callback(events.close)
        trust_store = TrustStore(trust_database)
        workspace_store = WorkspaceStore(trust_database)
        await workspace_store.load()
        sessions = Sessions(vault, session_store, trust_store, transcripts, events, workspace_store)
        await sessions.start()
        if sessions_database.path.name in replaced or not await session_store.is_rebuilt():
            rebuilding = Rebuilding(sessions, session_store, trust_store)
            stack.push_async_callback(rebuilding.close)
            rebuilding.start()
        source = CredentialSource(home, state.credentials)
        gateway = Gateway(home, settings, source, UsageStore(trust_database), audit)
        stack.push_async_callback(gateway.close_all)
        sandboxes = Sandboxes(home, settings, vault, agent_program())
        stack.push_async_callback(sandboxes.stop)
        await sandboxes.start()
        builds = Builds(home.root, sandboxes.attempt)
        stack.push_async_callback(builds.close)
        state.builds = builds
        declaration = state.modules.declared.all
        workspaces = Workspaces(vault, workspace_store, sessions, sandboxes.check_project, declaration)
        await workspaces.start()
        brake = Brake(home.root)
        egress = Egress(audit, brake=brake)
        stack.push_async_callback(egress.close_all)
        hosts = Hosts(home, state.modules, events, egress)
        interfaces = Interfaces(hosts)
        contexts = Contexts(interfaces, sandboxes.check_directory, vault.root)
        stack.push_async_callback(contexts.close)
        approved_prompts = ApprovedPrompts(home.root)
        module_prompts = ModulePrompts(hosts, vault, approved_prompts)
        suggestions = Suggestions(
            suggestion_store.SuggestionStore(suggestions_database), hosts, OwnSettings(home), events, audit
        )
        await suggestions.start()
        tools = AgentTools(hosts, suggestions, trust_store.owner)
        pool = AgentPool(settings.agents, prepare_files(home), tools, TotalMemory(home, settings.sandbox))
        mcp_servers = McpServers(home, settings, egress, tools)
        await mcp_servers.start()
        stack.push_async_callback(mcp_servers.close)
        state.mcp_servers = mcp_servers
        pool.start()
        stack.push_async_callback(pool.close)
        services = Services(
            home,
            settings,
            vault,
            sessions,
            gateway,
            sandboxes,
            Prompts(vault, module_prompts.kind, approved_prompts.is_approved),
            pool,
            tools,
            contexts,
            events,
            hooks,
            audit,
            workspaces,
            mcp_servers,
        )
        runs = Runs(services, run_store.RunStore(runs_database))
        await runs.start()
        stack.push_async_callback(runs.close)
        state.looks = Looks(services, runs)
        maintenance = Maintenance(services, state.modules, suggestions, trust_store.owner)
        await maintenance.start()
        state.maintenance = maintenance
        agents = ModuleAgents(services, runs, egress)
        watcher = VaultWatcher(vault.root)
        stack.push_async_callback(watcher.close)
        hosts.after_changes.append(VaultChanges(hosts, watcher).follow)
        conversations = ModuleConversations(sessions, runs)
        core_api = CoreApi(hosts, interfaces, events, state.modules.settings, agents, conversations, suggestions)
        hosts.start(agents, core_api.application)
        stack.push_async_callback(hosts.close)
        state.declared_modules = DeclaredModules(state.modules)
        stack.push_async_callback(state.declared_modules.close)
        scheduler = Scheduler(brake=brake)

        def has_tools() -> bool:
            return gateway.provider.name != "offline"

        scheduled_agents = ScheduledAgents(
            home, vault.root, hosts, agents, sessions, events, scheduler, suggestions, has_tools
        )
        stack.push_async_callback(scheduled_agents.close)
        await scheduled_agents.start()
        orchestrator = Orchestrator(
            settings.orchestrator,
            suggestions,
            agents,
            scheduled_agents.store,
            sessions,
            scheduler,
            has_tools,
        )
        stack.push_async_callback(orchestrator.close)
        orchestrator.start()
        stack.push_async_callback(scheduler.close)
        scheduler.start()
        emergency_stop = EmergencyStop(
            brake,
            # The runs first, so that each is known to be stopped before anything of it fails.
            stops=(
                runs.stop_all,
                gateway.close_all,
                egress.cut,
                mcp_servers.end_all,
                hooks.stop,
                lambda: control.ask(home, "panic"),
            ),
            resumes=(lambda: control.ask(home, "resume"), hooks.resume, scheduler.resume),
            inherited=lambda: _who_stopped(home),
        )
        emergency_stop.start()
        stack.push_async_callback(emergency_stop.close)
        state.emergency_stop = emergency_stop
        ending = SessionEnding(session_store, events, settings.session_idle_minutes, runs.is_active)
        ending.start()
        stack.push_async_callback(ending.close)
        claude_code = ClaudeCode(History(), vault, sessions, sandboxes, hooks)
        await claude_code.start()
        state.claude_code = claude_code
        state.audit, state.sessions, state.gateway = audit, sessions, gateway
        state.questions = Questions(gateway)
        state.scheduled_agents, state.orchestrator = scheduled_agents, orchestrator
        state.events, state.hosts, state.suggestions = events, hosts, suggestions
        state.module_prompts, state.workspaces = module_prompts, workspaces
        state.sandboxes, state.pool, state.runs, state.hooks = sandboxes, pool, runs, hooks
        state.late_routes.start()
        stack.push_async_callback(state.late_routes.close)
        yield


def _written(home: Home, vault: Vault) -> list[Path]:
    """Folders in which only this computer's own programs write files by way of another name."""
    return [home.root, vault.state, *(vault.root / name for name in ("Daily", "Brain", "Chat"))]


async def _who_stopped(home: Home) -> str | None:
    """Who stopped all agents, where the supervisor was told and no disk took it."""
    with contextlib.suppress(ParachuteError):
        if panic := (await control.ask(home, "status")).get("panic"):
            return str(panic["by"])
    return None


def agent_program() -> Path:
    """The program that the installed SDK brings, found without importing the SDK."""
    from importlib.util import find_spec

    found = find_spec("claude_agent_sdk")
    assert found is not None
    assert found.submodule_search_locations is not None
    return Path(found.submodule_search_locations[0]) / "_bundled" / "claude"
