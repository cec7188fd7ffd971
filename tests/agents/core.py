"""Core's part of a turn in the test's own process, with the real agent program, sandbox, gateway and stores."""

import contextlib
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from parachute.agents.models import ModuleTools
from parachute.agents.options import prepare_files
from parachute.agents.pool import AgentPool
from parachute.app import agent_program
from parachute.audit.service import Audit
from parachute.contexts.service import Contexts
from parachute.database import Database
from parachute.egress.service import Egress
from parachute.events import store as event_store
from parachute.events.service import Events
from parachute.gateway.credentials import CredentialSource
from parachute.gateway.service import Gateway
from parachute.gateway.store import UsageStore, create_usage
from parachute.hooks.service import Hooks
from parachute.hosts.interfaces import Interfaces
from parachute.hosts.service import Hosts
from parachute.modules.service import Modules
from parachute.prompts.service import Prompts
from parachute.runs import store as run_store
from parachute.runs.events import Event
from parachute.runs.preparation import Services
from parachute.runs.request import TurnRequest
from parachute.runs.run import Run
from parachute.runs.service import Runs
from parachute.sandbox.memory import TotalMemory
from parachute.sandbox.service import Sandboxes
from parachute.sessions import migrations
from parachute.sessions.service import Sessions
from parachute.sessions.store import SessionStore
from parachute.sessions.transcripts import Transcripts
from parachute.sessions.trust_store import TrustStore
from parachute.settings.models import Settings
from parachute.vault.service import Vault
from parachute.workspaces.service import Workspaces
from parachute.workspaces.store import WorkspaceStore, create_workspaces
from tests.supervisor.launching import Launcher

KEY = "sk-ant-api03-real"


class Core:
    """Runs turns; `vault` is the folder of the user's data, `runs` the service that the API talks to."""

    def __init__(self, services: Services, runs: Runs, folder: Path) -> None:
        self.services = services
        self.runs = runs
        self.vault = services.vault.root
        self._audit = folder / "audit"

    async def begin(self, message: str = "Hello!", session: str = "new", **fields: Any) -> Run:
        """Send a message."""
        request = TurnRequest(message=message, session_id=session, **fields)
        return await self.runs.begin(request, "owner", by_owner=True)

    async def answered(self, message: str = "Hello!", session: str = "new", **fields: Any) -> "Answer":
        """Send a message and wait for the end of its run."""
        return await self.finished(await self.begin(message, session, **fields))

    async def finished(self, run: Run) -> "Answer":
        """Wait for the end of a run."""
        events = [event async for _, event in run.log.read()]
        assert run.task is not None
        await run.task
        return Answer(run.session.id, events)

    async def audited(self) -> str:
        """Everything in the audit."""
        await self.services.audit.close()
        return "".join(path.read_text() for path in self._audit.glob("*.jsonl"))


class Answer:
    """What an app sees of a run."""

    def __init__(self, session: str, events: list[Event]) -> None:
        self.session = session
        self.events = events

    def of_type(self, kind: str) -> list[Event]:
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
    def end(self) -> Event:
        """The event that ended it."""
        return self.events[-1]


@contextlib.asynccontextmanager
async def core(launcher: Launcher, url: str, tools: ModuleTools, **chosen: Any) -> AsyncIterator[Core]:
    """Core beside a supervisor that runs already, with the model at `url`, tools of modules, and settings."""
    home, folder = launcher.home, launcher.folder
    settings = Settings(vault=folder / "Parachute", **{"agents": {"spare": False}, **chosen})
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
            Database(home.trust_database, (create_usage, *migrations.TRUST, create_workspaces)),
        )
        for database in databases:
            stack.push_async_callback(database.close)
            await database.open()
        session_rows, run_rows, event_rows, trust = databases
        events = Events(audit, event_store.EventStore(event_rows))
        await events.start()
        hooks = Hooks(home, vault.root, audit)
        stack.push_async_callback(hooks.close)
        await hooks.start(events)
        stack.push_async_callback(events.close)
        workspace_store = WorkspaceStore(trust)
        store = SessionStore(session_rows)
        sessions = Sessions(vault, store, TrustStore(trust), Transcripts(vault), events, workspace_store)
        await sessions.start()
        source = CredentialSource(home, {"ANTHROPIC_API_KEY": KEY, "ANTHROPIC_BASE_URL": url}, folder / ".claude")
        gateway = Gateway(home, settings, source, UsageStore(trust), audit)
        stack.push_async_callback(gateway.close_all)
        sandboxes = Sandboxes(home, settings, vault, agent_program())
        await sandboxes.start()
        pool = AgentPool(settings.agents, prepare_files(home), tools, TotalMemory(home, settings.sandbox))
        pool.start()
        stack.push_async_callback(pool.close)
        services = Services(
            home=home,
            settings=settings,
            vault=vault,
            sessions=sessions,
            gateway=gateway,
            sandboxes=sandboxes,
            prompts=Prompts(vault),
            pool=pool,
            tools=tools,
            contexts=Contexts(
                Interfaces(Hosts(home, Modules(home, vault.root), events, Egress(audit))),
                sandboxes.check_directory,
                vault.root,
            ),
            events=events,
            hooks=hooks,
            audit=audit,
            workspaces=Workspaces(vault, workspace_store, sessions, sandboxes.check_directory),
        )
        runs = Runs(services, run_store.RunStore(run_rows))
        await runs.start()
        stack.push_async_callback(runs.close)
        yield Core(services, runs, folder)
