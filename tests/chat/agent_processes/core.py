"""Core's part of a turn in the test's own process, with the real agent program, sandbox, gateway and stores."""

import contextlib
from collections.abc import AsyncIterator, Callable
from functools import partial
from pathlib import Path
from typing import Any

from parachute.base.database import Database
from parachute.capabilities.agents.service import Agents
from parachute.capabilities.mcp_servers.service import McpServers
from parachute.capabilities.offered.service import ConversationCapabilities
from parachute.capabilities.plugins.library import Library
from parachute.capabilities.plugins.service import Plugins
from parachute.capabilities.skills.runtime_plugin import RuntimePlugins
from parachute.capabilities.skills.service import Skills
from parachute.capabilities.skills.store import SkillStore
from parachute.changes import store as change_store
from parachute.changes.service import Changes
from parachute.chat.agent_processes.models import ModuleTools
from parachute.chat.agent_processes.options import prepare_files
from parachute.chat.agent_processes.pool import AgentPool
from parachute.chat.contexts.service import Contexts
from parachute.chat.contexts.store import SelectionStore
from parachute.chat.knowledge.service import KnowledgeService
from parachute.chat.network.inbox import HostsSource
from parachute.chat.network.service import Networks
from parachute.chat.network.store import HostDecisions, create_host_decisions
from parachute.chat.origins.service import Origins
from parachute.chat.permissions.service import Permissions
from parachute.chat.prompts.service import Prompts
from parachute.chat.repositories.inbox import RepositoriesSource
from parachute.chat.repositories.service import Repositories
from parachute.chat.repositories.store import RepositoryDecisions, create_repository_decisions
from parachute.chat.runs import store as run_store
from parachute.chat.runs.active import ActiveRuns
from parachute.chat.runs.admission import Admission
from parachute.chat.runs.branching import Branching
from parachute.chat.runs.person_preparation import PersonPreparation
from parachute.chat.runs.preparation import AgentServices, ProposingTools, ReadingTools
from parachute.chat.runs.prewarming import Prewarming
from parachute.chat.runs.request import TurnRequest
from parachute.chat.runs.run import Run
from parachute.chat.runs.service import Runs
from parachute.chat.runs.turn import TurnServices
from parachute.chat.runs.turn_store import TurnStore
from parachute.chat.runs.turns import Turns
from parachute.chat.sessions import migrations
from parachute.chat.sessions.copying import Beginnings
from parachute.chat.sessions.endings import Endings
from parachute.chat.sessions.service import Sessions
from parachute.chat.sessions.store import SessionStore
from parachute.chat.sessions.transcripts import Transcripts
from parachute.chat.sessions.trust_store import TrustStore
from parachute.chat.workspaces.service import Workspaces
from parachute.chat.workspaces.store import WorkspaceStore, create_workspaces
from parachute.config.agent_program import agent_program
from parachute.config.settings.models import Settings
from parachute.config.vault.service import Vault
from parachute.events.bus import store as event_store
from parachute.events.bus.service import Events
from parachute.events.hooks.service import Hooks
from parachute.events.inbox.service import Inbox
from parachute.llm.gateway.credentials import CredentialSource
from parachute.llm.gateway.limits import SpendingLimits, create_spending_limits
from parachute.llm.gateway.login import Login
from parachute.llm.gateway.service import Gateway
from parachute.llm.gateway.store import UsageStore, add_subjects, add_subscription_tokens, add_unpriced, create_usage
from parachute.modules.registry.service import Modules
from parachute.modules.runtime.interfaces import Interfaces
from parachute.modules.runtime.service import Hosts
from parachute.sandbox.egress.certificates import Certificates
from parachute.sandbox.egress.service import Egress
from parachute.sandbox.engines.memory import TotalMemory
from parachute.sandbox.engines.service import Sandboxes
from parachute.sandbox.git.tokens import Tokens
from parachute.security.audit.service import Audit
from tests.capabilities.agents.stores import agent_store
from tests.chat.sessions.no_meanings import NoMeanings
from tests.sandbox.egress.internet import Internet
from tests.supervisor.launching import Launcher
from tests.support.installation import AGENTS

KEY = "sk-ant-api03-real"


class Core:
    """Runs turns; `vault` is the folder of the user's data, `runs` the service that the API talks to."""

    def __init__(
        self, turn: TurnServices, runs: Runs, folder: Path, workspaces: Workspaces, repositories: Repositories
    ) -> None:
        self.services = turn.agents
        self.pool = turn.pool
        self.events = turn.events
        self.preparation = turn.preparation
        self.audit = turn.audit
        self.inbox = turn.inbox
        self.turns = turn.turns
        self.runs = runs
        self.workspaces = workspaces
        self.repositories = repositories
        self.vault = turn.agents.vault.root
        self._folder = folder

    async def begin(self, message: str = "Hello!", session: str = "new", **fields: Any) -> Run:
        """Send a message."""
        request = TurnRequest(message=message, session_id=session, **fields)
        return await self.runs.begin(request, "owner", by_owner=True)

    async def answered(self, message: str = "Hello!", session: str = "new", **fields: Any) -> "Answer":
        """Send a message and wait for the end of its run."""
        return await self.finished(await self.begin(message, session, **fields))

    async def finished(self, run: Run) -> "Answer":
        """Wait for the end of a run."""
        events = [event.to_json() async for _, event in run.log.read()]
        assert run.task is not None
        await run.task
        return Answer(run.session.id, events)

    async def discard(self, session: str) -> None:
        """End the agent's process that is kept for a session, as after a long pause."""
        await self.pool.discard(session)

    async def audited(self) -> str:
        """Everything in the audit."""
        await self.audit.close()
        return "".join(path.read_text() for path in (self._folder / "audit").glob("*.jsonl"))


class Answer:
    """The events of a run, as an app sees them."""

    def __init__(self, session: str, events: list[dict[str, Any]]) -> None:
        self.session = session
        self.events = events

    def of_type(self, kind: str) -> list[dict[str, Any]]:
        """The events of a type."""
        return [event for event in self.events if event["type"] == kind]

    @property
    def result(self) -> tuple[bool, str]:
        """(whether it is an error, content) of the only tool result."""
        (result,) = self.of_type("tool_result")
        return result["isError"], result["content"]

    @property
    def text(self) -> str:
        """The last text."""
        return str(self.of_type("text")[-1]["content"])

    @property
    def end(self) -> dict[str, Any]:
        """The event that ended it."""
        return self.events[-1]


@contextlib.asynccontextmanager
async def core(
    launcher: Launcher,
    url: str,
    tools: ModuleTools,
    mcp_servers: McpServers | None = None,
    internet: Internet | None = None,
    proposing: Callable[[Sessions], ProposingTools] | None = None,
    login: dict[str, str] | None = None,
    reading: ReadingTools | None = None,
    **chosen: Any,
) -> AsyncIterator[Core]:
    """The server's part beside a supervisor that runs already: the model at `url`, tools of modules and servers, and settings.

    What agents reach is in `internet`; `proposing` makes what offers the tool `suggest`. `login` are the variables of another
    credential than the API key.
    """
    home, folder = launcher.home, launcher.folder
    settings = Settings(vault=folder / "Parachute", **{"agents": AGENTS, **chosen})
    vault = Vault(settings.vault)
    vault.prepare()
    async with contextlib.AsyncExitStack() as stack:
        audit = Audit(folder / "audit")
        audit.start()
        stack.push_async_callback(audit.close)
        databases = (
            Database(vault.state / "sessions.db", migrations.ALL),
            Database(vault.state / "runs.db", run_store.ALL),
            Database(vault.state / "events.db", event_store.ALL),
            Database(home.changes_database, change_store.ALL),
            Database(
                home.trust_database,
                (
                    create_usage,
                    *migrations.TRUST,
                    create_workspaces,
                    create_host_decisions,
                    create_repository_decisions,
                    add_subscription_tokens,
                    add_subjects,
                    create_spending_limits,
                    add_unpriced,
                ),
            ),
        )
        for database in databases:
            stack.push_async_callback(database.close)
            await database.open()
        session_rows, run_rows, event_rows, change_rows, trust = databases
        events = Events(audit, event_store.EventStore(event_rows))
        await events.start()
        hooks = Hooks(home, vault.root, audit)
        stack.push_async_callback(hooks.close)
        await hooks.start(events)
        stack.push_async_callback(events.close)
        workspace_store = WorkspaceStore(trust)
        store = SessionStore(session_rows)
        transcripts, closed = Transcripts(vault), Endings(session_rows).closed.set
        sessions = Sessions(vault, store, TrustStore(trust), transcripts, events, NoMeanings(), closed, workspace_store)
        await sessions.start()
        variables = {**(login or {"ANTHROPIC_API_KEY": KEY}), "ANTHROPIC_BASE_URL": url}
        source = CredentialSource(home, variables, folder / ".claude")
        refreshed = Login(source.login_file, lambda: None)
        gateway = Gateway(home, settings, source, refreshed, UsageStore(trust), SpendingLimits(trust), audit)
        stack.push_async_callback(gateway.close_all)
        sandboxes = Sandboxes(home, settings, vault, agent_program())
        await sandboxes.opened.start()
        pool = AgentPool(settings.agents, prepare_files(home), tools, TotalMemory(home, settings.sandbox))
        pool.start()
        stack.push_async_callback(pool.close)
        inbox = Inbox(audit)
        changes = Changes(settings.changes, home.changes, change_rows, inbox.changed)
        await changes.start()
        contexts, prompts = (
            Contexts(vault, SelectionStore(session_rows), changes.instructions),
            Prompts(vault, agents=agent_store(vault)),
        )
        hosts = Hosts(home, Modules(home, vault.root), events, Egress(audit))
        interfaces = Interfaces(hosts)
        origins = Origins(vault, sessions, changes, hosts, interfaces)
        knowledge = KnowledgeService(interfaces, sandboxes.check_directory, vault.root)
        workspaces = Workspaces(vault, workspace_store, sessions, sandboxes.check_directory)
        internet = internet or Internet()
        egress = Egress(audit, resolve=internet.resolve, connect=internet.connect)
        stack.push_async_callback(egress.close_all)
        certificates = Certificates(settings.git.ca_file)
        repositories = Repositories(
            egress, RepositoryDecisions(trust), Tokens(home.root), certificates, audit, inbox.changed
        )
        networks = Networks(
            settings.network, egress, HostDecisions(trust), repositories, audit, inbox.changed, origins.went_out
        )
        active = ActiveRuns()
        begin_anew = partial(active.begin_anew, pool)
        permissions = Permissions(home, vault, settings, sessions, workspaces, networks, tools, begin_anew)
        agents = AgentServices(
            home, settings, vault, sessions, gateway, sandboxes, prompts, tools, changes, contexts, permissions, origins
        )
        inbox.add(HostsSource(networks), RepositoriesSource(repositories))
        offers = proposing(sessions) if proposing else None
        capabilities = None
        if mcp_servers is not None:
            skill_store = SkillStore(vault, home.root, None)
            runtime_plugins = RuntimePlugins(home.runtime_plugins, skill_store.read, sandboxes.opened.mounted)
            capabilities = ConversationCapabilities(
                mcp_servers,
                Agents(agent_store(vault), audit, inbox.changed),
                Skills(skill_store, runtime_plugins, audit, inbox.changed),
                Plugins(Library(home), mcp_servers.catalog, audit, inbox.changed),
            )
        preparation = PersonPreparation(agents, workspaces, knowledge, networks, capabilities, offers, reading)
        prewarming = Prewarming(agents, preparation, pool, knowledge)
        turns = Turns(TurnStore(run_rows), changes.history, networks)
        turn = TurnServices(agents, preparation, pool, events, audit, inbox, turns)
        branching = Branching(sessions, agents.contexts, Beginnings(vault, transcripts))
        admission = Admission(agents, workspaces, hooks, branching)
        runs = Runs(turn, run_store.RunStore(run_rows), admission, prewarming, active, lambda session: None)
        await runs.start()
        stack.push_async_callback(runs.close)
        yield Core(turn, runs, folder, workspaces, repositories)
