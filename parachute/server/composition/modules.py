"""The wing `modules`: the hosts of modules, and what the server answers them."""

from typing import Any

from msgspec import Struct

from parachute.automation.agent_requests.service import AgentRequests
from parachute.automation.module_agents.conversations import ModuleConversations
from parachute.automation.module_agents.module_prompts import ModulePrompts
from parachute.automation.suggestions.service import Suggestions
from parachute.automation.suggestions.tools import waits
from parachute.llm.meaning.service import MeaningIndex
from parachute.modules.mcp_endpoint.access import Outside
from parachute.modules.mcp_endpoint.service import McpEndpoint
from parachute.modules.registry.reconcile_worker import ReconcileWorker
from parachute.modules.registry.staged import StagedModules
from parachute.modules.registry.staged_changes import StagedChanges
from parachute.modules.runtime.core_api import CoreApi
from parachute.modules.runtime.interfaces import Interfaces
from parachute.modules.runtime.models import ModuleSessions
from parachute.modules.runtime.service import Hosts
from parachute.modules.runtime.vault_changes import VaultChanges
from parachute.security.approved_prompts import ApprovedPrompts
from parachute.security.mcp_clients.models import NO_WORKSPACE
from parachute.server.composition.events import EventServices
from parachute.server.composition.lifecycle import Lifecycle
from parachute.server.composition.sandbox import SandboxServices
from parachute.server.composition.sessions import SessionServices
from parachute.server.composition.storage import Installation, Storage


class ModuleServices(Struct, frozen=True, kw_only=True):
    """Hosts of modules; they run when `serve_modules` was called."""

    hosts: Hosts
    interfaces: Interfaces
    prompts: ModulePrompts
    approved_prompts: ApprovedPrompts
    declared: ReconcileWorker
    staged: StagedModules
    staged_changes: StagedChanges
    mcp_endpoint: McpEndpoint


def build_modules(
    installation: Installation, storage: Storage, events: EventServices, sandbox: SandboxServices
) -> ModuleServices:
    """Build what asks modules, for the wings above."""
    hosts = Hosts(installation.home, installation.modules, events.events, sandbox.egress)
    approved = ApprovedPrompts(installation.home.root)
    staged = StagedModules(installation.modules, installation.clock)
    return ModuleServices(
        hosts=hosts,
        interfaces=Interfaces(hosts, storage.audit),
        prompts=ModulePrompts(hosts, storage.vault, approved),
        approved_prompts=approved,
        declared=ReconcileWorker(installation.modules),
        staged=staged,
        staged_changes=StagedChanges(staged, events.inbox.changed, installation.clock),
        mcp_endpoint=McpEndpoint(
            hosts, events.switch, storage.audit, installation.mcp_clients, storage.vault.root, installation.clock
        ),
    )


def outside(sessions: SessionServices, suggestions: Suggestions) -> Outside:
    """The parts of the wings above that MCP clients need."""

    async def workspace_of(session: str) -> str | None:
        found = await sessions.sessions.find(session)
        return None if found is None else found.workspace_id or NO_WORKSPACE

    def workspaces() -> list[tuple[str, str]]:
        return [(each.slug, each.name) for each in sessions.workspaces.all()]

    async def propose(client: str, document: dict[str, Any]) -> str:
        return waits(await suggestions.propose_from_client(client, document))

    return Outside(workspace_of, workspaces, propose)


def serve_modules(
    installation: Installation,
    storage: Storage,
    events: EventServices,
    modules: ModuleServices,
    suggestions: Suggestions,
    agents: AgentRequests,
    conversations: ModuleConversations,
    sessions: ModuleSessions,
    meaning: MeaningIndex,
    lifecycle: Lifecycle,
) -> None:
    """Open the sockets of all modules, and answer what they ask."""
    modules.hosts.after_changes.append(VaultChanges(modules.hosts, events.file_watcher).follow)
    answering = CoreApi(
        modules.hosts,
        modules.interfaces,
        events.events,
        installation.modules.settings,
        agents,
        conversations,
        suggestions,
        sessions,
        meaning,
    )
    lifecycle.closing(modules.staged_changes.close)
    modules.hosts.start(agents, answering.application)
    lifecycle.closing(modules.hosts.close)
    # It starts when the server is ready.
    lifecycle.closing(modules.declared.close)
